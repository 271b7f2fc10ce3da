import { type CatalogueModel, models } from '../../generated/catalogue.ts';
import { type Caller, viewerOf } from '../keys/caller.ts';
import { type Failure, invalid, keeperAway, notServed } from '../lib/failure.ts';
import { quoted, systemVoices } from '../models/catalogue.ts';
import { type FoundVoice, findVoices } from '../store/queries/voices.ts';
import type { Store } from '../store/store.ts';
import type { Channel } from './channel.ts';
import type { Channels } from './channels.ts';

/** A string of a client's body that names a voice, or might for all that is known. */
export interface NamedVoice {
  /** Name of the field on the route it came by, for the messages. */
  field: string;
  voice: string;
  /** It stands where a voice belongs. */
  named: boolean;
}

interface VoiceLookup {
  store: Store;
  channels: Channels;
}

/**
 * The channels that can speak with all the voices: those that serve the model and have the system voices, or the one
 * channel that custom voices were made on. A channel that does not list its voices may have any that nobody made
 * here, and that is not written like one that was. A string that may be no voice at all must not be another user's.
 * A socket goes on with the channel it is `connected` to, whatever the configuration has become since.
 *
 * @throws Failure 503 when no channel serves the model; 400 when a voice is unknown, another user's or made for
 *   another model, or when voices live apart
 */
export async function channelsForVoices(
  { store, channels }: VoiceLookup,
  caller: Caller,
  model: CatalogueModel,
  voices: readonly NamedVoice[],
  connected?: Channel,
): Promise<Channel[]> {
  const others = channels
    .serving('native', model.id, caller.group)
    .filter(({ name }) => name !== connected?.name);
  const serving = connected === undefined ? others : [...others, connected];
  if (serving.length === 0) throw notServed(model.id);
  const system = systemVoices(model).map(({ id }) => id);
  const listing = ({ voice }: NamedVoice) =>
    serving.filter(({ settings: { voices: own = system } }) =>
      (own === 'catalogue' ? system : own).includes(voice),
    );
  const unlisted = voices.filter((one) => listing(one).length === 0);
  const records = unlisted.length === 0 ? none : await recordsOf(store, unlisted, caller);
  let left = serving;
  for (const one of voices) {
    const listed = listing(one);
    const home = listed.length > 0 ? listed : homeOf(one, records.get(idIn(one)));
    if (home === undefined || !one.named) continue;
    const both = left.filter((channel) => home.includes(channel));
    if (both.length === 0) {
      throw invalid(one.field, `${quoted(one.voice)} lives with another provider than the voices before it.`);
    }
    left = both;
  }
  return left;

  /** Undefined: it says nothing of a channel. */
  function homeOf(one: NamedVoice, record: FoundVoice | undefined): Channel[] | undefined {
    const { field, voice, named } = one;
    if (!named) {
      if (mayStand(one, record, channels, model)) return undefined;
      throw unknownVoice(one, model, system);
    }
    if (record === undefined) {
      const open = isCustom(voice, channels)
        ? []
        : serving.filter(({ settings }) => settings.voices === undefined);
      if (open.length > 0) return open;
    }
    if (record?.isSeen !== true) throw unknownVoice(one, model, system);
    if (record.target_model !== model.id) {
      throw invalid(
        field,
        `${quoted(voice)} was made for ${record.target_model} and works with no other model.`,
      );
    }
    const home = serving.filter(({ name }) => name === record.channel);
    if (home.length > 0) return home;
    throw keeperAway('The channel this voice lives on is not available.');
  }
}

/**
 * For a body that speaks with no voice but may name some.
 *
 * @throws Failure 400 when a voice is not the caller's own, or another string might be somebody else's
 */
export async function refuseOthersVoices(
  { store, channels }: VoiceLookup,
  caller: Caller,
  voices: readonly NamedVoice[],
): Promise<void> {
  const records = await recordsOf(store, voices, caller);
  for (const one of voices) {
    const record = records.get(idIn(one));
    const own = one.named ? record?.isSeen === true : mayStand(one, record, channels, undefined);
    if (!own) throw invalid(one.field, `there is no voice ${quoted(one.voice)}.`);
  }
}

/**
 * Whether a string may stand where no voice belongs. Ids of beta voices are their makers' free choice, so they can be
 * any word that others use; only beta models could take one for a voice.
 */
function mayStand(
  { voice }: NamedVoice,
  record: FoundVoice | undefined,
  channels: Channels,
  model: CatalogueModel | undefined,
): boolean {
  if (record === undefined) return !isCustom(voice, channels);
  const chosen = record.service === 'voice_clone' && model?.family !== 'beta';
  return chosen || record.isSeen;
}

/** The same words whether or not somebody else has such a voice. */
function unknownVoice(
  { field, voice }: NamedVoice,
  model: CatalogueModel,
  system: readonly string[],
): Failure {
  const hint = model.voices === 'system' ? `; it has ${system.join(', ')}` : '';
  return invalid(field, `${quoted(voice)} is not a voice of ${model.id}${hint}.`);
}

const none: ReadonlyMap<string, FoundVoice> = new Map();

async function recordsOf(
  store: Store,
  voices: readonly NamedVoice[],
  caller: Caller,
): Promise<Map<string, FoundVoice>> {
  const found = await findVoices(store.read, [...new Set(voices.map(idIn))], viewerOf(caller));
  return new Map(found.map((record) => [record.voice_id, record]));
}

/** A provider may not mind blanks around it. */
function idIn({ voice }: NamedVoice): string {
  return voice.trim();
}

/** How cloned and designed voices of the alpha models end. */
const alphaVoice = /-v[cd]-.*-voice-\d+-\w+$/i;

/** Whether an id is written like those of the voices that are made here: the target model, a dash and more. */
function isCustom(voice: string, channels: Channels): boolean {
  const id = voice.trim().toLowerCase();
  if (alphaVoice.test(id)) return true;
  return targets.some((target) =>
    [target, ...channels.upstreamNames(target)].some((name) => id.startsWith(`${name.toLowerCase()}-`)),
  );
}

/** The models that enrolled voices are made for. */
const targets: readonly string[] = models
  .filter(({ family }) => family === 'voxa' || family === 'alpha-audio')
  .map(({ id }) => id);
