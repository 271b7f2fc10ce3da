import { type CatalogueModel, models, type VoiceKind } from '../../generated/catalogue.ts';
import { type Caller, viewerOf } from '../keys/caller.ts';
import { channelUnavailable, type Failure, invalid, notServed } from '../lib/failure.ts';
import { quoted, systemVoices } from '../models/catalogue.ts';
import { type FoundVoice, findVoices } from '../store/queries/voices.ts';
import type { Store } from '../store/store.ts';
import type { Channel } from './channel.ts';
import type { Channels } from './channels.ts';

/** A string in a client's body that names a voice, or might name one. */
export interface NamedVoice {
  /** Name of the field, for error messages. */
  field: string;
  voice: string;
  /** The field holds a voice. False for any other string. */
  named: boolean;
}

interface VoiceLookup {
  store: Store;
  channels: Channels;
}

/**
 * Returns the channels that can speak with all the voices. System voices are on every channel that lists them, a
 * custom voice only on its own. A connected socket's channel (`connected`) always counts as serving the model.
 *
 * @throws Failure 503 when no channel serves the model. 400 when a voice is unknown, another user's or made for
 *   another model, or when no single channel has all voices
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
  const channelsListing = ({ voice }: NamedVoice) =>
    serving.filter(({ settings: { voices: own = system } }) =>
      (own === 'catalogue' ? system : own).includes(voice),
    );
  const unlisted = voices.filter((one) => channelsListing(one).length === 0);
  const records = unlisted.length === 0 ? noRecords : await recordsOf(store, unlisted, caller);
  let remaining = serving;
  for (const one of voices) {
    const listed = channelsListing(one);
    const owners = listed.length > 0 ? listed : ownersOf(one, records.get(trimmedId(one)));
    if (owners === undefined || !one.named) continue;
    remaining = remaining.filter((channel) => owners.includes(channel));
    if (remaining.length === 0) {
      throw invalid(one.field, `${quoted(one.voice)} belongs to another provider than the voices before it.`);
    }
  }
  return remaining;

  /** Undefined if the string does not restrict the channels. */
  function ownersOf(one: NamedVoice, record: FoundVoice | undefined): Channel[] | undefined {
    const { field, voice, named } = one;
    if (!named) {
      if (isAllowed(one, record, channels, model)) return undefined;
      throw unknownVoice(one, model, system);
    }
    if (record === undefined) {
      // A channel without a list of voices may have any that no user made here.
      const withoutList = isCustom(voice, channels)
        ? []
        : serving.filter(({ settings }) => settings.voices === undefined);
      if (withoutList.length > 0) return withoutList;
    }
    if (record?.isSeen !== true) throw unknownVoice(one, model, system);
    if (record.target_model !== model.id) {
      throw invalid(
        field,
        `${quoted(voice)} was made for ${record.target_model} and works with no other model.`,
      );
    }
    const owners = serving.filter(({ name }) => name === record.channel);
    if (owners.length > 0) return owners;
    throw channelUnavailable('The channel of this voice is not available.');
  }
}

/** Returns the kind of a voice that `channelsForVoices` has accepted. Undefined: unknown, since only a provider knows it. */
export async function voiceKind(
  { store, channels }: VoiceLookup,
  caller: Caller,
  model: CatalogueModel,
  voice: string,
): Promise<VoiceKind | undefined> {
  if (model.voices === 'cloned' || model.voices === 'designed') return model.voices;
  if (systemVoices(model).some(({ id }) => id === voice)) return 'system';
  const one = { field: 'voice', voice, named: true };
  const record = (await recordsOf(store, [one], caller)).get(trimmedId(one));
  if (record === undefined) return isCustom(voice, channels) ? undefined : 'system';
  const isDesigned = record.service === 'alpha-voice-design' || factsIn(record).voice_prompt !== undefined;
  return isDesigned ? 'designed' : 'cloned';
}

function factsIn({ facts }: FoundVoice): { voice_prompt?: unknown } {
  return JSON.parse(facts) as { voice_prompt?: unknown };
}

/**
 * Checks a body that does not synthesize speech but may name voices.
 *
 * @throws Failure 400 when a voice is not the caller's own, or another string might name another user's voice
 */
export async function rejectOtherUsersVoices(
  { store, channels }: VoiceLookup,
  caller: Caller,
  voices: readonly NamedVoice[],
): Promise<void> {
  const records = await recordsOf(store, voices, caller);
  for (const one of voices) {
    const record = records.get(trimmedId(one));
    const own = one.named ? record?.isSeen === true : isAllowed(one, record, channels, undefined);
    if (!own) throw invalid(one.field, `there is no voice ${quoted(one.voice)}.`);
  }
}

/**
 * Whether a string in a field that holds no voice is allowed. Users choose ids of beta voices freely, so any word can
 * be one, but only beta models would read it as a voice.
 */
function isAllowed(
  { voice }: NamedVoice,
  record: FoundVoice | undefined,
  channels: Channels,
  model: CatalogueModel | undefined,
): boolean {
  if (record === undefined) return !isCustom(voice, channels);
  const hasChosenId = record.service === 'voice_clone' && model?.family !== 'beta';
  return hasChosenId || record.isSeen;
}

/** Does not reveal whether another user has such a voice. */
function unknownVoice(
  { field, voice }: NamedVoice,
  model: CatalogueModel,
  system: readonly string[],
): Failure {
  const hint = model.voices === 'system' ? `; it has ${system.join(', ')}` : '';
  return invalid(field, `${quoted(voice)} is not a voice of ${model.id}${hint}.`);
}

const noRecords: ReadonlyMap<string, FoundVoice> = new Map();

async function recordsOf(
  store: Store,
  voices: readonly NamedVoice[],
  caller: Caller,
): Promise<Map<string, FoundVoice>> {
  const found = await findVoices(store.read, [...new Set(voices.map(trimmedId))], viewerOf(caller));
  return new Map(found.map((record) => [record.voice_id, record]));
}

/** A provider may ignore spaces around an id. */
function trimmedId({ voice }: NamedVoice): string {
  return voice.trim();
}

/** Suffix of cloned and designed voices of the alpha models. */
const alphaVoice = /-v[cd]-.*-voice-\d+-\w+$/i;

/** Whether an id has the form of a custom voice: the target model, a dash and a suffix. */
function isCustom(voice: string, channels: Channels): boolean {
  const id = voice.trim().toLowerCase();
  if (alphaVoice.test(id)) return true;
  return enrollmentModels.some((target) =>
    [target, ...channels.upstreamNames(target)].some((name) => id.startsWith(`${name.toLowerCase()}-`)),
  );
}

/** Target models of enrolled voices. */
const enrollmentModels: readonly string[] = models
  .filter(({ family }) => family === 'voxa' || family === 'alpha-audio')
  .map(({ id }) => id);
