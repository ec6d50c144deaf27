// The entry point of a later version of the executable. Environment variables choose its faults.
import "./next-faults.ts";
import "../../src/cli/main.ts";
