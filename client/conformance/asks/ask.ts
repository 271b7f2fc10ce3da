import type { DocumentedOperation } from '../contract/documented.ts';
import type { Way } from '../subject/caller.ts';
import type { LesserKey } from '../subject/keys.ts';
import type { World } from '../subject/world.ts';
import type { Answer, Target } from '../wire/answer.ts';
import type { Variation } from '../wire/exchange.ts';
import { type Expected, refusalProblems } from '../wire/refusal.ts';
import { excerpt, mediaTypeOf } from '../wire/wire.ts';

/** A request, and what it must be answered with. Every answer is held to the contract besides. */
export interface Ask {
  name: string;
  /** Each of them is right. */
  status: number | readonly number[];
  /** Media type of a good answer. */
  type?: string;
  /** What a refusal must say. */
  expected?: Expected;
  /** Default: the request that the contract documents. */
  variation?: Variation | (() => Promise<Variation>);
  way?: Way;
  /** Whose key it has; default: that of the run. */
  as?: LesserKey | (() => Promise<Target>);
  /** The error may be one in a provider's own words. */
  mayBeProviders?: boolean;
  /** What is wrong with the answer beyond that. */
  verify?: (answer: Answer) => readonly string[] | Promise<readonly string[]>;
}

/** What came of an ask. */
export interface Outcome {
  problems: string[];
  curl: string;
}

/**
 * Sends what an ask is about, and judges the answer.
 *
 * @throws NoAnswer when there is none
 * @throws Unavailable when something that it needs is not to be had
 */
export async function carryOut(world: World, operation: DocumentedOperation, ask: Ask): Promise<Outcome> {
  const { caller, keys } = world;
  const { as, way, mayBeProviders } = ask;
  // What the request is about is made before the server is brought to what it shall answer.
  const variation = typeof ask.variation === 'function' ? await ask.variation() : ask.variation;
  const target = as === undefined ? world.target : await (typeof as === 'string' ? keys.as(as) : as());
  const { answer, problems, curl } = await caller.send(target, operation, variation, way, mayBeProviders);
  const wrong = problems.length > 0 ? [] : await judged(ask, answer);
  return { problems: [...problems, ...wrong], curl };
}

async function judged({ status, type, expected, verify }: Ask, answer: Answer): Promise<string[]> {
  const statuses = typeof status === 'number' ? [status] : status;
  if (statuses.every((one) => one >= 400)) {
    const problems = refusalProblems(answer, statuses, expected);
    return problems.length > 0 || verify === undefined ? problems : [...(await verify(answer))];
  }
  if (!statuses.includes(answer.status))
    return [`answered ${answer.status} instead of ${statuses.join(' or ')}: ${excerpt(answer)}`];
  if (type !== undefined && mediaTypeOf(answer) !== type)
    return [`answered ${mediaTypeOf(answer)} instead of ${type}`];
  return verify === undefined ? [] : [...(await verify(answer))];
}
