import { signal } from '@preact/signals';
import type { Model } from '../../index.ts';
import { useClient } from '../session/session.ts';
import { useLoaded } from './run.ts';

const known = signal<{ key: object; models: readonly Model[] } | undefined>(undefined);

/** Returns the models that the key can use, of the given protocols. Undefined until they are loaded. */
export function useModels(protocols: readonly string[]): readonly Model[] | undefined {
  const client = useClient();
  useLoaded(async (abort) => {
    if (known.peek()?.key === client) return;
    known.value = { key: client, models: await Array.fromAsync(client.models.list({ signal: abort })) };
  });
  return known.value?.models.filter((model) => model.protocols.some((name) => protocols.includes(name)));
}
