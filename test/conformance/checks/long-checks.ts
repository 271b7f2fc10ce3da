import type { RunContext } from '../context/run-context.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import type { CheckOutcome } from '../scenarios/scenario.ts';
import { callbackChecks } from './callbacks.ts';
import { silentDialogueChecks } from './dialogues.ts';

export interface LongCheck {
  name: string;
  run: () => Promise<CheckOutcome>;
}

/** Checks that mostly wait: for a task to end, or for an idle timeout. */
export const longChecks = (operation: DocumentedOperation, context: RunContext): LongCheck[] => [
  ...callbackChecks(operation, context),
  ...silentDialogueChecks(operation, context),
];

/** Number of callback checks that run at the same time. Each creates a task. */
const maxCallbackChecks = 4;

/** Long checks that run in the background, by the id of the operation. */
export type StartedChecks = ReadonlyMap<string, readonly LongCheck[]>;

/** Starts the long checks of all operations, so that they wait while the other checks run. */
export function startLongChecks(
  operations: readonly DocumentedOperation[],
  context: RunContext,
  isSelected: (name: string) => boolean = () => true,
): StartedChecks {
  let count = 0;
  const running: Promise<unknown>[] = [];
  const started = ({ name, run }: LongCheck, after?: Promise<unknown>): LongCheck => {
    const outcome = after === undefined ? run() : after.then(run);
    // An aborted run never awaits the outcome. This prevents an unhandled rejection.
    outcome.catch(() => undefined);
    return { name, run: () => outcome };
  };
  return new Map(
    operations.map((operation) => {
      const callbacks = callbackChecks(operation, context).filter(({ name }) => isSelected(name));
      const silent = silentDialogueChecks(operation, context).filter(({ name }) => isSelected(name));
      const queued = callbacks.map((check) => {
        const place = count % maxCallbackChecks;
        count += 1;
        const one = started(check, running[place]);
        running[place] = one.run().catch(() => undefined);
        return one;
      });
      return [operation.id, [...queued, ...silent.map((check) => started(check))]];
    }),
  );
}
