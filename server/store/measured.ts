import { errorType } from '../telemetry/error-type.ts';
import { storeDuration } from '../telemetry/metrics.ts';
import { currentContext } from '../telemetry/telemetry-context.ts';
import { StoreUnavailable } from './availability.ts';
import type { Store } from './store.ts';

/** Adds metrics and traces of the duration of commands to a store. */
export function measured(store: Store): Store {
  const system = store.engine === 'sqlite' ? 'sqlite' : 'postgresql';
  // One object for each series, since metrics store it.
  const attributes = new Map<string, Record<string, string>>();
  const attributesOf = (name: string, error?: string) =>
    attributes.getOrInsertComputed(error === undefined ? name : `${name} ${error}`, () => ({
      'db.system.name': system,
      'db.operation.name': name,
      ...(error !== undefined && { 'error.type': error }),
    }));
  return {
    ...store,
    run(name, args) {
      const result = store.run(name, args);
      const trace = currentContext()?.trace;
      if (!storeDuration.isEnabled && !trace?.isRecorded) return result;
      const startedAt = performance.now();
      const span = trace?.child(name, attributesOf(name));
      const end = (error?: string) => {
        storeDuration.record((performance.now() - startedAt) / 1e3, attributesOf(name, error));
        span?.end({}, error);
      };
      result.then(
        () => end(),
        (error: unknown) => end(error instanceof StoreUnavailable ? 'unavailable' : errorType(error)),
      );
      return result;
    },
  };
}
