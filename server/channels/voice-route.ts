import type { CatalogueModel } from '../../generated/catalogue.ts';
import { Failure, invalid } from '../failure.ts';
import type { Caller } from '../models/access.ts';
import { quoted, systemVoices } from '../models/catalogue.ts';
import { findVoice } from '../store/queries/voices.ts';
import type { Store } from '../store/store.ts';
import type { Channel } from './channel.ts';
import type { Channels } from './channels.ts';

/**
 * The channels that can speak with a voice: those that serve the model and have the system voice, or the one
 * channel a custom voice was made on. A channel that does not list its voices may have any that nobody made here.
 *
 * @param field name of the voice's field on the route it came by, for the messages
 * @throws Failure 503 when no channel serves the model; 400 when the voice is unknown, another user's, made for
 *   another model or not ready
 */
export async function channelsForVoice(
  { store, channels }: { store: Store; channels: Channels },
  caller: Caller,
  model: CatalogueModel,
  voice: string,
  field: string,
): Promise<Channel[]> {
  const serving = channels.serving('native', model.id, caller.group);
  if (serving.length === 0) {
    throw new Failure(503, 'model_not_found', `No channel serves ${model.id} to this key.`, {
      retryAfter: 60,
    });
  }
  // A mix of voices needs no single one.
  if (voice === '') return serving;
  const system = systemVoices(model).map(({ id }) => id);
  const listed = serving.filter(({ settings: { voices = system } }) =>
    (voices === 'catalogue' ? system : voices).includes(voice),
  );
  if (listed.length > 0) return listed;
  const custom = await findVoice(store.read, voice);
  if (custom === undefined) {
    const open = serving.filter(({ settings }) => settings.voices === undefined);
    if (open.length > 0) return open;
    const hint = model.voices === 'system' ? `; it has ${system.join(', ')}` : '';
    throw invalid(field, `${quoted(voice)} is not a voice of ${model.id}${hint}.`);
  }
  if (custom.user_id !== caller.userId)
    throw invalid(field, `${quoted(voice)} is not a voice of ${model.id}.`);
  if (custom.target_model !== model.id) {
    throw invalid(
      field,
      `${quoted(voice)} was made for ${custom.target_model} and works with no other model.`,
    );
  }
  const home = serving.filter(({ name }) => name === custom.channel);
  if (home.length > 0) return home;
  throw new Failure(503, 'get_channel_failed', 'The channel this voice lives on is not available.', {
    retryAfter: 60,
  });
}
