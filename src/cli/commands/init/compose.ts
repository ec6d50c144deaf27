import type { Config } from "../../../server/config/config.ts";
import { ownerOf } from "./unit.ts";

/** A compose file that serves the data directory from a container with the image of the Dockerfile. */
export function renderCompose({ dataDir, port }: Config): { text: string; warning: string | undefined } {
  const { uid, gid } = ownerOf(dataDir);
  const source = JSON.stringify(dataDir).replaceAll("$", "$$$$");
  const text = `services:
  bodega:
    image: bodega
    restart: unless-stopped
    user: "${uid}:${gid}"
    ports:
      - "127.0.0.1:${port === 0 ? 8080 : port}:8080"
    volumes:
      - type: bind
        source: ${source}
        target: /data
    read_only: true
    tmpfs:
      - /tmp:exec,mode=1777
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    stop_grace_period: 30s
`;
  const warning = `The container runs as root because root owns ${dataDir}. Give the directory to another account.`;
  return { text, warning: uid === 0 ? warning : undefined };
}
