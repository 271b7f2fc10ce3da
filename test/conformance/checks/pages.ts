import { factsOf } from '../context/coverage.ts';
import type { RunContext } from '../context/run-context.ts';
import { Unavailable } from '../context/unavailable.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { valuesAt } from '../invariants/vocabulary.ts';
import type { CheckOutcome } from '../scenarios/scenario.ts';
import { jsonOf } from '../wire/http-response.ts';
import type { LongCheck } from './long-checks.ts';

/** Number of times that the kit reads a list that changes meanwhile. */
const maxAttempts = 8;

/** Number of times that a problem must occur, because an entry may be added and deleted between two reads. */
const minFailures = 3;

/** Names of the parameters for the number and the size of a page. */
const sizeNames = ['page_size', 'limit'];
const numberNames = ['p', 'page', 'page_num'];

/** Checks that the second page of a list continues the first. */
export function pageChecks(operation: DocumentedOperation, context: RunContext): LongCheck[] {
  const { role } = factsOf(operation);
  const named = (names: readonly string[]) =>
    operation.parameters.find((one) => one.in === 'query' && names.includes(one.name))?.name;
  const [size, number, after] = [named(sizeNames), named(numberNames), named(['after'])];
  if (size === undefined || (number === undefined && after === undefined) || operation.method !== 'get')
    return [];
  const query = (pageSize: number, previous?: string) => ({
    [size]: pageSize,
    ...(previous !== undefined && (number === undefined ? { after: previous } : { [number]: 2 })),
  });
  return [
    {
      name: 'the second page continues the first',
      run: async () => {
        if (role !== undefined && !context.isAdmin) throw new Unavailable('the key is not an admin key');
        return checkPages(operation, context, query);
      },
    },
  ];
}

async function checkPages(
  operation: DocumentedOperation,
  { caller, target }: RunContext,
  queryOf: (size: number, previous?: string) => Record<string, string | number>,
): Promise<CheckOutcome> {
  let curl = '';
  const idsOf = async (size: number, previous?: string) => {
    const sent = await caller.send(target, operation, { query: queryOf(size, previous) });
    ({ curl } = sent);
    const body = jsonOf(sent.response);
    const lists = ['data.items[]', 'data[]', 'items[]'].map((path) => valuesAt(body, path));
    const entries = lists.find((list) => list.length > 0) ?? [];
    return entries.map(({ value }) => JSON.stringify(idOf(value)));
  };
  let failures = 0;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const before = await idsOf(2);
    const first = await idsOf(1);
    const second = await idsOf(1, textOf(first[0]));
    const both = await idsOf(2);
    if (before.length < 2) throw new Unavailable('the list has fewer than two entries');
    if (before.join() !== both.join()) continue;
    const problems =
      first[0] === second[0]
        ? [`page: the second page repeats ${first[0]} of the first`]
        : first[0] === both[0] && second[0] === both[1]
          ? []
          : [
              `page: pages of one have ${first.join()} and ${second.join()}, a page of two has ${both.join()}`,
            ];
    if (problems.length > 0) failures += 1;
    if (problems.length === 0 || failures === minFailures) return { problems, curl };
  }
  throw new Unavailable('the list changes too often to compare two pages');
}

const idOf = (entry: unknown): unknown => {
  const { id, name, action } = entry as { id?: unknown; name?: unknown; action?: unknown };
  return id ?? name ?? action ?? entry;
};

const textOf = (id: string | undefined): string => String(id === undefined ? '' : JSON.parse(id));
