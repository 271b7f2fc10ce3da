import type { Logger } from '../runtime/logger.ts';
import type { Settings } from '../settings/settings.ts';
import { generateKey, hashKey, keyHint } from '../store/keys.ts';
import type { Store } from '../store/store.ts';

/** Makes the first key, or that of `BOOTSTRAP_KEY`, where it is not there. Gives it when nobody knows it yet. */
export async function ensureKey(
  settings: Pick<Settings, 'bootstrapKey'>,
  store: Pick<Store, 'run'>,
  logger: Logger,
  now: number,
): Promise<string | undefined> {
  const key = settings.bootstrapKey ?? generateKey();
  const onlyFirst = settings.bootstrapKey === undefined;
  const { created, deleted } = await store.run('ensureBootstrap', {
    keyHash: hashKey(key),
    keyHint: keyHint(key),
    onlyFirst,
    now,
  });
  if (deleted) logger.warn('BOOTSTRAP_KEY was deleted and is not made again: set another one');
  return created && onlyFirst ? key : undefined;
}
