import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import type { ChangedNames, SettingsChanges } from '../../settings/changes.ts';
import { loadedPrices } from '../../settings/loaded-prices.ts';
import { SettingsError } from '../../settings/settings-error.ts';
import { changeBy } from './admin-change.ts';

/** Has this gateway, with all its workers, read its configuration again: what differs, and takes effect, before anything is told. */
export const reloadConfiguration: Handler<'reloadConfiguration'> = async (request, reply) => {
  const { gateway, query } = request;
  const { liveSettings, store } = gateway;
  const dryRun = query.dry_run === true;
  const reading = dryRun
    ? liveSettings.compare()
    : liveSettings.reload(async (changes, next) => {
        const change = changeBy(request, 'reloadConfiguration');
        await store.run('recordPrices', {
          ...loadedPrices(next),
          cause: 'api',
          request: { ...change, subject: 'configuration', details: changedOnly(changes) },
          now: change.now,
        });
      });
  const { needsRestart, ...changes } = await reading.catch((error: unknown) => {
    throw error instanceof SettingsError ? wrong(error) : error;
  });
  if (!dryRun) await gateway.siblings?.reload();
  const data = {
    file: gateway.settings.file ?? null,
    applied: !dryRun,
    ...changes,
    needs_restart: needsRestart,
  };
  reply.json(200, { success: true, message: '', data });
};

function changedOnly({ channels, groups, prices, settings, needsRestart, revision }: SettingsChanges) {
  const changed = ({ added, changed, removed }: ChangedNames) => ({ added, changed, removed });
  const named = { channels: changed(channels), groups: changed(groups), prices: changed(prices) };
  return { ...named, settings, needs_restart: needsRestart, revision };
}

const wrong = (cause: SettingsError) => new Failure(400, 'invalid_configuration', cause.message, { cause });
