import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

/** Retired words in identifiers and file names, and the usual term for each. */
const retired: [pattern: RegExp, term: string][] = [
  [/\bmost[A-Z]\w*/, "max…"],
  [/\b\w*(?:patience|within)Ms\b/, "timeoutMs"],
  [/\b(?:portion|\w*Portion)\w*/, "batch"],
  [/\b\w*(?:LockTurns|waitTurn|takeTurn|takeHashingTurn|HashingTurn)\w*/, "lock fairness, Semaphore"],
  [/\b\w*(?:KeptMap|kept-map)\w*/, "LruCache"],
  [/\b\w*[gG]atherer\w*/, "write-behind buffer"],
  [/\b\w*(?:[hH]itExchange|hit-exchange)\w*/, "counter sync"],
  [/\b\w*(?:[cC]heckup|lookAll|examine[A-Z]|[eE]xamination)\w*/, "check, doctor, report"],
  [/\b(?:drift|Drift)[A-Z]?\w*/, "inconsistency"],
  [/\b\w*(?:[uU]pkeep|[sS]weep)\w*/, "background jobs, purge"],
  [/\b\w*(?:WorkerDesk|worker-desk|startWatching|WorkerWatching)\w*/, "worker registry, monitor"],
  [/\b\w*(?:[hH]andOver|hand-over)\w*/, "deliver"],
  [/\b\w*judgeToken\w*/, "verifyToken"],
  [/\b\w*(?:foldLog|fold-log|FoldedLog)\w*/, "merge WAL"],
  [/\b\w*(?:loadMark|load-mark|[tT]akingFolder|taking-folder)\w*/, "restore marker, restore temp dir"],
  [/\b\w*(?:[uU]sersLock|users-lock)\w*/, "open-file lock"],
  [/\b(?:summarizedOnce|followPrice)\b/, "withDeferredSummaries, syncVariantPrices"],
  [/\b(?:finishChange|closeUnpaid|toldEvents)\b/, "commitTransition, releaseOrder, notifiableEvents"],
  [/\b(?:requireShare|fewPieces)\b/, "enforceReservationCap"],
  [/\b(?:peekLimit|requireHit|takePlace)\b/, "checkLimit, consumeLimit, addHit"],
  [/\b(?:claimTasks|claimStatements|endClaim|takePlace)\b/, "createQueue, addHit"],
  [/\b(?:noteView|ToldEvent|leastTtl|takeBatch)\b/, "recordView, NotifiableEvent, minTtl, popBatch"],
  [
    /\b(?:spendCode|endTokens|mintVisitor|claimReactions)\b/,
    "consumeCode, revokeTokens, issueVisitorToken, transferReactions",
  ],
  [/\b(?:fieldFault|RowFault|cannotOrder)\b/, "fieldError, RowError, orderItemError"],
  [
    /\b(?:servedJson|is_unserved|waysToChange|holdMemory|ListShape)\b/,
    "localizedJson, requireAny, reserveMemory, ListPlan",
  ],
  [
    /\b(?:noteResult|noteUse|readState|takeCommon|mayNameCaller)\b/,
    "recordResult, recordUse, readEtagSource, popCommonParams",
  ],
  [
    /\b(?:WalEmptier|DiskReserve|setWalAside|shareFile|claimFile|giveToOwner)\b/,
    "WalTruncator, BallastFile, quarantineWal, lockShared",
  ],
  [
    /\b(?:keepDamagedWal|modeKeeper|parseLinks|ClaimedLink|readHead|Continuity\w*|goesOn|setBacks|withOffer|tryPlace)\b/,
    "preserveCorruptWal, restrictFileModes, SegmentId, LastSegment, GenerationLease, continues, clockRewinds",
  ],
  [/\b(?:askServer|freeTurn|isTurnOver|createClockWatch|pullBack)\b/, "requestServer, requestAll, yieldToEventLoop"],
  [/\b\w*[rR]ehears\w*/, "restore test"],
  [/\btake(?:Store|Owner|Key|Mail|Replica|PublicUrl|Password|Origins)\b/, "resolveStore…"],
  [/\b(?:forEachView|noteLogin|rejectionBuffer)\b/, "forEachAudience, recordLogin, recorder"],
  [
    /\b(?:KnownKey|readKnown|SentApp|Arrived|Incoming|isUnsigned)\b/,
    "ResolvedCredentials, RequestCredentials, RouteRequest, ignoresCredentials",
  ],
  [
    /\b(?:titleRank|compileWalk|isServed|servedSelects|noteUnused|is_cut|forEachView|viewOf\(ctx)\b/,
    "titleOffset, index-scan, isLocalized, exceeds_bytes, audience",
  ],
  [/\b(?:defineVerb|VerbArgs|walk-tree|walkTree|createIo)\b/, "command, command tree, Console"],
];

const own = "test/tooling/vocabulary.test.ts";
const files = [...new Bun.Glob("{src,test,scripts}/**/*.ts").scanSync({ cwd: root })].filter((path) => path !== own);

test("identifiers and file names contain no retired words", () => {
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((path) => {
    const text = `${path}\n${readFileSync(join(root, path), "utf8")}`;
    return retired.flatMap(([pattern, term]) => {
      const match = pattern.exec(text);
      return match ? [`${path}: ${match[0]} (write: ${term})`] : [];
    });
  });
  expect(found).toEqual([]);
});
