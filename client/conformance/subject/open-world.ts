import { isLoopback, Receiver } from '../callbacks/receiver.ts';
import { documented } from '../contract/documented.ts';
import type { Target } from '../wire/answer.ts';
import { excerpt } from '../wire/wire.ts';
import { Caller, NoAnswer, type OnAnswer } from './caller.ts';
import { CleanUp } from './clean-up.ts';
import { Keys } from './keys.ts';
import { Seen } from './seen.ts';
import { Tasks } from './tasks.ts';
import { Things } from './things.ts';
import { Unavailable } from './unavailable.ts';
import type { World } from './world.ts';

/** The server cannot be put to the test at all: nobody answers, or the key is not taken. */
export class Unfit extends Error {}

export interface WorldOptions {
  baseUrl: string;
  key: string;
  runs: number;
  seed: number;
  timeoutMs: number;
  taskTimeoutMs: number;
  /** `auto`: as the server shows. */
  triggers: 'auto' | 'on' | 'off';
  admin: boolean;
  bodyLimitMb: number;
  /** Address at which the server reaches this machine; undefined: loopback for a server that is there, else none. */
  callbacksAt?: string | undefined;
  /** Port that is listened on for it; undefined: that of the address. */
  callbacksPort?: number | undefined;
  callbackSecret?: string | undefined;
  onAnswer?: OnAnswer | undefined;
  signal?: AbortSignal | undefined;
}

/** @throws Unfit when the server does not answer or take the key, or nothing can listen for its callbacks */
export async function openWorld(options: WorldOptions): Promise<{ world: World; cleanUp: CleanUp }> {
  const { runs, seed, timeoutMs, admin, bodyLimitMb, signal } = options;
  const target: Target = { url: options.baseUrl.replace(/\/+$/, ''), key: options.key };
  const seen = new Seen();
  const caller = new Caller({ timeoutMs, seen, onAnswer: options.onAnswer });
  await greet(caller, target);
  const receiver = await openReceiver(target, options);
  const cleanUp = new CleanUp(caller, target);
  const tasks = new Tasks(caller, target, options.taskTimeoutMs, signal);
  const things = new Things(caller, target, tasks);
  const groups = await caller.send(target, documented('listGroups'));
  const isAdmin = groups.answer.status === 200;
  const ordinary = async () => {
    if (!isAdmin) return target.key;
    if (!admin) throw new Unavailable('the key of another user is made with --admin only');
    return things.userKey();
  };
  const triggers =
    options.triggers === 'auto' ? await showsTriggers(caller, target) : options.triggers === 'on';
  return {
    cleanUp,
    world: {
      target,
      caller,
      keys: new Keys(caller, target, ordinary),
      things,
      tasks,
      seen,
      triggers,
      isAdmin,
      admin,
      bodyLimitMb,
      taken: new Set(),
      runs,
      seed,
      timeoutMs,
      taskTimeoutMs: options.taskTimeoutMs,
      receiver,
      callbackSecret: options.callbackSecret,
      signal,
    },
  };
}

async function greet(caller: Caller, target: Target): Promise<void> {
  try {
    const { answer } = await caller.send(target, documented('listModels'));
    if (answer.status === 401) throw new Unfit(`${target.url} does not take the key: ${excerpt(answer)}`);
  } catch (error) {
    if (error instanceof NoAnswer) throw new Unfit(`${target.url} cannot be reached: ${error.message}`);
    throw error;
  }
}

async function openReceiver(
  { url }: Target,
  { callbacksAt: at, callbacksPort: port }: WorldOptions,
): Promise<Receiver | undefined> {
  if (at === undefined && !isLoopback(new URL(url).hostname)) return undefined;
  return Receiver.open({ at, port }).catch((error: NodeJS.ErrnoException) => {
    throw new Unfit(`nothing can listen for callbacks at ${at}: ${error.code ?? error.message}`);
  });
}

/** Whether words in a text make the server's provider fail, as those of a sandbox do. */
async function showsTriggers(caller: Caller, target: Target): Promise<boolean> {
  const body = { model: 'voxa-v3-flash', voice: 'voxanna', input: '[[reject]]' };
  const { answer } = await caller.send(target, documented('createSpeech'), { body }, 'whole', true);
  return answer.status === 400;
}
