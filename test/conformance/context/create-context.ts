import { isLoopback, Receiver } from '../callbacks/receiver.ts';
import { documented } from '../contract/documented.ts';
import { printable } from '../report/printable.ts';
import { Secrets } from '../report/secrets.ts';
import type { Target } from '../wire/http-response.ts';
import { excerpt } from '../wire/wire.ts';
import { Caller, NoResponseError, type OnResponse } from './caller.ts';
import { CleanUp } from './clean-up.ts';
import { Coverage } from './coverage.ts';
import { Fixtures } from './fixtures.ts';
import { Keys } from './keys.ts';
import type { RunContext } from './run-context.ts';
import { Tasks } from './tasks.ts';
import { Unavailable } from './unavailable.ts';

/** The server cannot be tested: it does not respond or rejects the key. */
export class SetupError extends Error {}

export interface RunOptions {
  baseUrl: string;
  key: string;
  runs: number;
  seed: number;
  timeoutMs: number;
  taskTimeoutMs: number;
  /** `auto` tests one trigger to find out. */
  triggers: 'auto' | 'on' | 'off';
  admin: boolean;
  bodyLimitMb: number;
  /** URL at which the server reaches this machine. Default: loopback for a server on loopback, otherwise none. */
  callbacksAt?: string | undefined;
  /** Port to listen on. Default: the port of `callbacksAt`. */
  callbacksPort?: number | undefined;
  callbackSecret?: string | undefined;
  onResponse?: OnResponse | undefined;
  signal?: AbortSignal | undefined;
}

/** @throws SetupError when the server does not respond, rejects the key, or the callback port is in use */
export async function createRunContext(
  options: RunOptions,
): Promise<{ context: RunContext; cleanUp: CleanUp }> {
  const { runs, seed, timeoutMs, admin, bodyLimitMb, signal } = options;
  const target: Target = { url: options.baseUrl.replace(/\/+$/, ''), key: options.key };
  const coverage = new Coverage();
  const secrets = new Secrets([target.key, options.callbackSecret]);
  const caller = new Caller({ timeoutMs, coverage, secrets, onResponse: options.onResponse });
  await checkAccess(caller, target, secrets);
  const receiver = await openReceiver(target, options);
  const cleanUp = new CleanUp(caller, target);
  const tasks = new Tasks(caller, target, options.taskTimeoutMs, signal);
  const fixtures = new Fixtures(caller, target, tasks);
  const groups = await caller.send(target, documented('listGroups'));
  const isAdmin = groups.response.status === 200;
  const createNonAdminKey = async () => {
    if (!isAdmin) return target.key;
    if (!admin) throw new Unavailable('another user and a key for it are created only with --admin');
    return fixtures.userKey();
  };
  const triggers =
    options.triggers === 'auto' ? await acceptsTriggers(caller, target) : options.triggers === 'on';
  return {
    cleanUp,
    context: {
      target,
      caller,
      keys: new Keys(caller, target, createNonAdminKey),
      fixtures,
      tasks,
      coverage,
      secrets,
      triggers,
      isAdmin,
      admin,
      bodyLimitMb,
      checkedSchemas: new Set(),
      runs,
      seed,
      timeoutMs,
      taskTimeoutMs: options.taskTimeoutMs,
      receiver,
      callbackSecret: options.callbackSecret,
      signal,
      stopped: new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve(undefined), { once: true });
      }),
    },
  };
}

async function checkAccess(caller: Caller, target: Target, secrets: Secrets): Promise<void> {
  const fail = (message: string) => {
    throw new SetupError(printable(secrets.mask(message)));
  };
  try {
    const { response } = await caller.send(target, documented('listModels'));
    if (response.status === 401) fail(`${target.url} rejects the key: ${excerpt(response)}`);
  } catch (error) {
    if (error instanceof NoResponseError) fail(`${target.url} cannot be reached: ${error.message}`);
    throw error;
  }
}

async function openReceiver(
  { url }: Target,
  { callbacksAt: publicUrl, callbacksPort: port }: RunOptions,
): Promise<Receiver | undefined> {
  if (publicUrl === undefined && !isLoopback(new URL(url).hostname)) return undefined;
  return Receiver.open({ publicUrl, port }).catch((error: NodeJS.ErrnoException) => {
    throw new SetupError(`cannot listen for callbacks at ${publicUrl}: ${error.code ?? error.message}`);
  });
}

/** Whether a trigger in the request causes a provider failure, as in the sandbox. */
async function acceptsTriggers(caller: Caller, target: Target): Promise<boolean> {
  const body = { model: 'voxa-v3-flash', voice: 'voxanna', input: '[[reject]]' };
  const { response } = await caller.send(target, documented('createSpeech'), { body }, 'full', true);
  return response.status === 400;
}
