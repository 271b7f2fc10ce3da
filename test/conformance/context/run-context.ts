import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { Receiver } from '../callbacks/receiver.ts';
import type { Secrets } from '../report/secrets.ts';
import type { Target } from '../wire/http-response.ts';
import type { Caller } from './caller.ts';
import type { Coverage } from './coverage.ts';
import type { Fixtures } from './fixtures.ts';
import type { Keys } from './keys.ts';
import type { Tasks } from './tasks.ts';

/** The server under test and the state of a run. */
export interface RunContext {
  target: Target;
  caller: Caller;
  keys: Keys;
  fixtures: Fixtures;
  tasks: Tasks;
  coverage: Coverage;
  /** Secrets that no output may contain. */
  secrets: Secrets;
  /** Whether triggers such as `[[error]]` in a prompt cause provider failures. */
  triggers: boolean;
  /** Whether the key has admin access. */
  isAdmin: boolean;
  /** Whether the run may make changes that need admin access. */
  admin: boolean;
  /** Maximum size of a request body, in megabytes. */
  bodyLimitMb: number;
  /** Schemas whose limits the run has already checked with another operation. */
  checkedSchemas: Set<JsonObject>;
  /** Random requests per operation. */
  runs: number;
  seed: number;
  timeoutMs: number;
  taskTimeoutMs: number;
  /** Receives callbacks. Undefined if the server cannot reach this machine. */
  receiver: Receiver | undefined;
  /** Secret that signs callbacks, if known. */
  callbackSecret: string | undefined;
  signal?: AbortSignal | undefined;
  /** Resolves when the run is stopped. */
  stopped: Promise<undefined>;
}
