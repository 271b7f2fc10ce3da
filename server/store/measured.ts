import type { Attributes } from '@opentelemetry/api';
import { errorType } from '../telemetry/error-type.ts';
import { storeDuration } from '../telemetry/metrics.ts';
import { currentContext } from '../telemetry/telemetry-context.ts';
import { StoreUnavailable } from './availability.ts';
import type { Store } from './store.ts';

/** The same store, of which it is measured how long commands take. */
export function measured(store: Store): Store {
  const system = store.engine === 'sqlite' ? 'sqlite' : 'postgresql';
  const known = new Map<string, Attributes>();
  const record = (began: number, name: string, error?: string) => {
    const key = error === undefined ? name : `${name} ${error}`;
    let attributes = known.get(key);
    if (attributes === undefined) {
      attributes = {
        'db.system.name': system,
        'db.operation.name': name,
        ...(error !== undefined && { 'error.type': error }),
      };
      known.set(key, attributes);
    }
    storeDuration.record((performance.now() - began) / 1e3, attributes);
  };
  return {
    ...store,
    run(name, args) {
      const result = store.run(name, args);
      const trace = currentContext()?.trace;
      if (!storeDuration.isEnabled && !trace?.isRecorded) return result;
      const began = performance.now();
      const span = trace?.child(name, { 'db.system.name': system, 'db.operation.name': name });
      const end = (error?: string) => {
        record(began, name, error);
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
