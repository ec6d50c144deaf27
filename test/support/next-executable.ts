// The entry point of a later version of the executable, whose faults the environment chooses.
import "./next-faults.ts";
import "../../src/cli/main.ts";
