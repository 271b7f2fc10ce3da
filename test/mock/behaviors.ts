import type { IncomingHttpHeaders } from 'node:http';
import { type OperationId, operationIds, operations } from '../../generated/operations.ts';
import { isObject, type Json } from '../../openapi/tools/document.ts';
import { invalid } from '../../server/lib/failure.ts';
import { httpFaults } from './faults.ts';
import { scripts } from './sockets/scripts.ts';

/** Changes to the default behavior of the mock. */
export interface Behavior {
  /** Milliseconds before the response. */
  delay?: number;
  /** Maximum random delay in milliseconds, added to `delay`. */
  jitter?: number;
  /** A documented status. */
  status?: number;
  /** One of `faultsOf`, or `none`. */
  fault?: string;
  /** Number of requests to apply it to. */
  times?: number;
}

/** Maximum delay and jitter. */
const maxDelayMs = 600_000;
const maxTimes = 1_000_000;

/** An operation id, or all operations. */
export type Scope = OperationId | 'all';

/** Returns the scope of a name. @throws Failure 400 for an unknown operation */
export function scopeOf(name: string | undefined): Scope {
  if (name === 'all' || (operationIds as readonly (string | undefined)[]).includes(name))
    return name as Scope;
  throw invalid('operation', `must be an operationId or all, not ${String(name).slice(0, 100)}.`);
}

export const isSocket = (id: OperationId): boolean => statusesOf(id).includes(101);

/** Returns the faults that an operation supports. */
export function faultsOf(scope: Scope): string[] {
  if (scope !== 'all' && isSocket(scope)) return [...scripts.keys()];
  return [...httpFaults.keys()];
}

/** The behavior set for single operations and for all. */
export class Behaviors {
  readonly #set: Map<Scope, Behavior>;
  readonly #random: () => number;

  /** `random` returns numbers in [0, 1). */
  constructor(random: () => number = Math.random, initial: ReadonlyMap<Scope, Behavior> = new Map()) {
    this.#random = random;
    this.#set = new Map(initial);
  }

  get all(): ReadonlyMap<Scope, Behavior> {
    return this.#set;
  }

  /** @throws Failure 400 that names the field and its limit */
  set(scope: Scope, value: Json | undefined): Behavior {
    const behavior = parseBehavior(scope, value);
    this.#set.set(scope, behavior);
    return behavior;
  }

  reset(scope?: Scope): void {
    if (scope === undefined) this.#set.clear();
    else this.#set.delete(scope);
  }

  /** Returns the behavior of a request. Its own settings override those of its operation, which override those of all. */
  next(id: OperationId, requested: Behavior): Behavior {
    return { ...this.#consume('all', id), ...this.#consume(id, id), ...requested };
  }

  /** Returns the delay in milliseconds, including the jitter. */
  latency({ delay = 0, jitter = 0 }: Behavior): number {
    return delay + Math.floor(this.#random() * (jitter + 1));
  }

  /** Returns the behavior set for a scope, and counts the request. */
  #consume(scope: Scope, id: OperationId): Behavior {
    const { times, ...behavior } = this.#set.get(scope) ?? {};
    if (times === 1) this.#set.delete(scope);
    else if (times !== undefined) this.#set.set(scope, { ...behavior, times: times - 1 });
    // A status or fault for all operations applies only where it exists.
    if (behavior.fault !== undefined && !['none', ...faultsOf(id)].includes(behavior.fault))
      delete behavior.fault;
    if (behavior.status !== undefined && !statusesOf(id).includes(behavior.status)) delete behavior.status;
    return behavior;
  }
}

const statusesOf = (id: OperationId): readonly number[] => operations[id].statuses;

const fields = ['delay', 'jitter', 'status', 'fault', 'times'] as const;

/**
 * Parses a behavior.
 *
 * @throws Failure 400 that names the field and its limit
 */
function parseBehavior(scope: Scope, value: Json | undefined, name = (field: string) => field): Behavior {
  if (!isObject(value)) throw invalid('body', `must be a JSON object with ${fields.join(', ')}.`);
  const unknown = Object.keys(value).find((field) => !(fields as readonly string[]).includes(field));
  if (unknown !== undefined)
    throw invalid(name(unknown), `is unknown, must be one of ${fields.map(name).join(', ')}.`);
  const integer = (field: string, min: number, max: number): number | undefined => {
    const number = value[field];
    if (number === undefined) return undefined;
    if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max)
      return number;
    throw invalid(name(field), `must be a whole number from ${min} to ${max}.`);
  };
  const { fault } = value;
  const faults = ['none', ...faultsOf(scope)];
  if (fault !== undefined && !(typeof fault === 'string' && faults.includes(fault)))
    throw invalid(name('fault'), `must be one of ${faults.join(', ')}.`);
  const status = integer('status', 100, 599);
  const statuses = scope === 'all' ? [] : statusesOf(scope);
  if (status !== undefined && scope !== 'all' && isSocket(scope))
    throw invalid(name('status'), 'is not available for a socket, use a fault refuse-<status>.');
  if (status !== undefined && statuses.length > 0 && !statuses.includes(status))
    throw invalid(
      name('status'),
      `${status} is not documented for this operation, must be one of ${statuses.join(', ')}.`,
    );
  const read = {
    delay: integer('delay', 0, maxDelayMs),
    jitter: integer('jitter', 0, maxDelayMs),
    status,
    fault,
    times: integer('times', 1, maxTimes),
  };
  return Object.fromEntries(Object.entries(read).filter(([, one]) => one !== undefined));
}

const prefix = 'x-mock-';

/**
 * Parses the headers `x-mock-delay`, `x-mock-jitter`, `x-mock-status` and `x-mock-fault`.
 *
 * @throws Failure 400 that names the header and its limit
 */
export function requestedBehavior(id: OperationId, headers: IncomingHttpHeaders): Behavior {
  const mockHeaders = Object.entries(headers).filter(
    ([name]) => name.startsWith(prefix) && name !== 'x-mock-script',
  );
  return parseRequestedBehavior(
    id,
    mockHeaders.map(([name, value]) => [name.slice(prefix.length), String(value)]),
    (field) => prefix + field,
  );
}

/** Parses texts. `name` returns the client's name of a field, for errors. */
export function parseRequestedBehavior(
  id: OperationId,
  texts: readonly (readonly [field: string, text: string])[],
  name: (field: string) => string,
): Behavior {
  const entries = texts.map(([field, text]): [string, Json] => {
    const number = field !== 'fault' && /^\d{1,15}$/.test(text);
    return [field, number ? Number(text) : text];
  });
  if (entries.some(([field]) => field === 'times'))
    throw invalid(name('times'), 'is not available for a single request.');
  return parseBehavior(id, Object.fromEntries(entries), name);
}
