import type { IncomingHttpHeaders } from 'node:http';
import { type OperationId, operations } from '../../generated/operations.ts';
import { isObject, type Json } from '../../openapi/tools/document.ts';
import { invalid } from '../../server/lib/failure.ts';
import { httpFaults } from './faults.ts';
import { scripts } from './sockets/scripts.ts';

/** How the mock behaves: what is not said is as always. */
export interface Behaviour {
  /** Milliseconds before it answers. */
  delay?: number;
  /** Up to so many milliseconds more, by chance. */
  jitter?: number;
  /** A documented status to answer with. */
  status?: number;
  /** One of `faultsOf`, or `none`. */
  fault?: string;
  /** For so many requests only. */
  times?: number;
}

/** Longest delay and jitter, in milliseconds. */
const longest = 600_000;
const most = 1_000_000;

/** An operation's id, or all of them. */
export type Scope = OperationId | 'all';

export const isSocket = (id: OperationId): boolean => statusesOf(id).includes(101);

/** Names of the faults that an operation can have, or that all can. */
export function faultsOf(scope: Scope): string[] {
  if (scope !== 'all' && isSocket(scope)) return [...scripts.keys()];
  return [...httpFaults.keys()];
}

/** What is set for one operation and for all of them. */
export class Behaviours {
  readonly #set = new Map<Scope, Behaviour>();
  readonly #random: () => number;

  /** `random` gives numbers from 0 to under 1. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  get all(): ReadonlyMap<Scope, Behaviour> {
    return this.#set;
  }

  /** @throws Failure 400 that names the field and its limit */
  set(scope: Scope, value: Json | undefined): Behaviour {
    const behaviour = readBehaviour(scope, value);
    this.#set.set(scope, behaviour);
    return behaviour;
  }

  reset(scope?: Scope): void {
    if (scope === undefined) this.#set.clear();
    else this.#set.delete(scope);
  }

  /** What holds for one request: its own wishes first, then what is set for its operation, then what is set for all. */
  next(id: OperationId, wishes: Behaviour): Behaviour {
    return { ...this.#used('all', id), ...this.#used(id, id), ...wishes };
  }

  /** Milliseconds to wait. */
  latency({ delay = 0, jitter = 0 }: Behaviour): number {
    return delay + Math.floor(this.#random() * (jitter + 1));
  }

  /** What is set for a scope, which holds for one request less from now on. */
  #used(scope: Scope, id: OperationId): Behaviour {
    const { times, ...behaviour } = this.#set.get(scope) ?? {};
    if (times === 1) this.#set.delete(scope);
    else if (times !== undefined) this.#set.set(scope, { ...behaviour, times: times - 1 });
    // What is set for all holds where there is such a thing.
    if (behaviour.fault !== undefined && !['none', ...faultsOf(id)].includes(behaviour.fault))
      delete behaviour.fault;
    if (behaviour.status !== undefined && !statusesOf(id).includes(behaviour.status)) delete behaviour.status;
    return behaviour;
  }
}

const statusesOf = (id: OperationId): readonly number[] => operations[id].statuses;

const fields = ['delay', 'jitter', 'status', 'fault', 'times'] as const;

/**
 * A behaviour as it came from outside.
 *
 * @throws Failure 400 that names the field and its limit
 */
function readBehaviour(scope: Scope, value: Json | undefined, name = (field: string) => field): Behaviour {
  if (!isObject(value)) throw invalid('body', `must be a JSON object with ${fields.join(', ')}.`);
  const unknown = Object.keys(value).find((field) => !(fields as readonly string[]).includes(field));
  if (unknown !== undefined)
    throw invalid(name(unknown), `is not known; there are ${fields.map(name).join(', ')}.`);
  const whole = (field: string, least: number, greatest: number): number | undefined => {
    const number = value[field];
    if (number === undefined) return undefined;
    if (typeof number === 'number' && Number.isInteger(number) && number >= least && number <= greatest)
      return number;
    throw invalid(name(field), `must be a whole number from ${least} to ${greatest}.`);
  };
  const { fault } = value;
  const faults = ['none', ...faultsOf(scope)];
  if (fault !== undefined && !(typeof fault === 'string' && faults.includes(fault)))
    throw invalid(name('fault'), `must be one of ${faults.join(', ')}.`);
  const status = whole('status', 100, 599);
  const statuses = scope === 'all' ? [] : statusesOf(scope);
  if (status !== undefined && scope !== 'all' && isSocket(scope))
    throw invalid(name('status'), 'a socket has none; take a fault refuse-<status>.');
  if (status !== undefined && statuses.length > 0 && !statuses.includes(status))
    throw invalid(name('status'), `${status} is not documented here; there are ${statuses.join(', ')}.`);
  const read = {
    delay: whole('delay', 0, longest),
    jitter: whole('jitter', 0, longest),
    status,
    fault,
    times: whole('times', 1, most),
  };
  return Object.fromEntries(Object.entries(read).filter(([, one]) => one !== undefined));
}

const prefix = 'x-mock-';

/**
 * What a request asks for in headers `x-mock-delay`, `x-mock-jitter`, `x-mock-status` and `x-mock-fault`.
 *
 * @throws Failure 400 that names the header and its limit
 */
export function wishesOf(id: OperationId, headers: IncomingHttpHeaders): Behaviour {
  const own = Object.entries(headers).filter(([name]) => name.startsWith(prefix) && name !== 'x-mock-script');
  return readWishes(
    id,
    own.map(([name, value]) => [name.slice(prefix.length), String(value)]),
    (field) => prefix + field,
  );
}

/** The same from texts, under the names that the client gave them. */
export function readWishes(
  id: OperationId,
  texts: readonly (readonly [field: string, text: string])[],
  name: (field: string) => string,
): Behaviour {
  const entries = texts.map(([field, text]): [string, Json] => {
    const number = field !== 'fault' && /^\d{1,15}$/.test(text);
    return [field, number ? Number(text) : text];
  });
  if (entries.some(([field]) => field === 'times')) throw invalid(name('times'), 'a request is only one.');
  return readBehaviour(id, Object.fromEntries(entries), name);
}
