import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { Model } from '../../index.ts';
import type { Option } from '../contract/field.tsx';
import type { Form } from '../contract/form.ts';
import { useClient } from '../session/session.ts';
import { route } from '../shell/router.ts';
import { useLoaded } from './run.ts';

const known = signal<{ key: object; models: readonly Model[] } | undefined>(undefined);

/** Returns the models that the key can use, of the given protocols. Undefined until they are loaded. */
export const useModels = (protocols: readonly string[]): readonly Model[] | undefined =>
  useAllModels()?.filter((model) => model.protocols.some((name) => protocols.includes(name)));

/** Returns the models that the key can use. Undefined until they are loaded. */
export function useAllModels(): readonly Model[] | undefined {
  const client = useClient();
  useLoaded(async (abort) => {
    if (known.peek()?.key === client) return;
    known.value = { key: client, models: await Array.fromAsync(client.models.list({ signal: abort })) };
  });
  return known.value?.models;
}

/** Calls `select` with the model that the address names, also when it changes: `#/messages?model=…`. */
export function useModelInAddress(
  models: readonly Model[] | undefined,
  select: (model: Model) => void,
): void {
  const id = route.value.query.get('model');
  const named = models?.find((model) => model.id === id);
  useLayoutEffect(() => {
    if (named !== undefined) select(named);
  }, [named?.id]);
}

/** Returns the choices of the field `model`. Selects the first model if the key cannot use the current one. */
export function useModelOptions(form: Form, protocols: readonly string[]): readonly Option[] {
  const models = useModels(protocols);
  const value = form.get('model');
  const current = typeof value === 'string' ? value : '';
  useEffect(() => {
    const [first] = models ?? [];
    if (first !== undefined && !models?.some(({ id }) => id === current)) form.set('model', first.id);
  }, [models !== undefined]);
  return models?.map(({ id }) => ({ value: id })) ?? [{ value: current }];
}
