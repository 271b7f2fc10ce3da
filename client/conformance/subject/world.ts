import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { Receiver } from '../callbacks/receiver.ts';
import type { Target } from '../wire/answer.ts';
import type { Caller } from './caller.ts';
import type { Keys } from './keys.ts';
import type { Seen } from './seen.ts';
import type { Tasks } from './tasks.ts';
import type { Things } from './things.ts';

/** The server under test, and what a run has of it. */
export interface World {
  target: Target;
  caller: Caller;
  keys: Keys;
  things: Things;
  tasks: Tasks;
  seen: Seen;
  /** Whether the words that make a sandbox fail do so here. */
  triggers: boolean;
  /** Whether the key is that of an admin. */
  isAdmin: boolean;
  /** Whether what only an admin can change may be changed. */
  admin: boolean;
  /** Largest body that the operator takes, in megabytes. */
  bodyLimitMb: number;
  /** Schemas whose limits were tried with an operation already. */
  taken: Set<JsonObject>;
  /** Random cases for each operation. */
  runs: number;
  seed: number;
  timeoutMs: number;
  taskTimeoutMs: number;
  /** Takes callbacks; undefined: the server cannot reach this machine. */
  receiver: Receiver | undefined;
  /** What callbacks are signed with, where it is known. */
  callbackSecret: string | undefined;
  signal?: AbortSignal | undefined;
}
