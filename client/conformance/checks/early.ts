import type { Outcome } from '../asks/ask.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import type { World } from '../subject/world.ts';
import { callbackChecks } from './callbacks.ts';
import { silentDialogueChecks } from './dialogues.ts';

export interface LongCheck {
  name: string;
  work: () => Promise<Outcome>;
}

/** Checks that mostly wait: for a task to end, or for a server to have enough of a silence. */
export const longChecks = (operation: DocumentedOperation, world: World): LongCheck[] => [
  ...callbackChecks(operation, world),
  ...silentDialogueChecks(operation, world),
];

/** By the id of the operation. */
export type Begun = ReadonlyMap<string, readonly LongCheck[]>;

/** Begins those of all operations at once, so that they wait beside the other checks. */
export function beginLongChecks(operations: readonly DocumentedOperation[], world: World): Begun {
  return new Map(
    operations.map((operation) => [
      operation.id,
      longChecks(operation, world).map(({ name, work }) => {
        const outcome = work();
        // Whoever takes it hears of its failure; nobody may, when the run is broken off.
        outcome.catch(() => undefined);
        return { name, work: () => outcome };
      }),
    ]),
  );
}
