import type { Args, CommandName, Result } from './commands/registry.ts';
import type { Store } from './store.ts';
import { untilTaken } from './unavailable.ts';

/**
 * Runs a command that writes down what has happened already: it waits for a store that is away until it is back.
 *
 * @throws StoreUnavailable when nobody shall wait any more, else the command's own error.
 */
export function persist<Name extends CommandName>(
  store: Pick<Store, 'run' | 'over'>,
  name: Name,
  args: Args<Name>,
): Promise<Result<Name>> {
  return untilTaken(store.over, () => store.run(name, args));
}
