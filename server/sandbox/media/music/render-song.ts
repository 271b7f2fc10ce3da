import { drawCover } from './cover.ts';
import { formatKeyForId3 } from './harmony.ts';
import type { StemName } from './instruments/names.ts';
import { measureWaveform, mixStem } from './mix.ts';
import { toMp3, toWav } from './song-files.ts';
import type { SongFacts, SongPlan } from './song-plan.ts';
import { synthesizeSong } from './synthesize-song.ts';

/** Artist name in the tags. */
const artist = 'Unigate Sandbox';

/** A rendered song: its MP3, and its cover as PNGs. */
export interface RenderedSong {
  facts: SongFacts;
  mp3: Uint8Array<ArrayBuffer>;
  cover: Uint8Array<ArrayBuffer>;
  largeCover: Uint8Array<ArrayBuffer>;
}

export async function renderSong(plan: SongPlan): Promise<RenderedSong> {
  const { tracks, facts } = await synthesizeSong(plan);
  const cover = await drawCover(plan);
  const mp3 = await toMp3(mixStem(tracks, undefined), createTags(plan, cover.small, facts.words.length > 0));
  return { facts, mp3, cover: cover.small, largeCover: cover.large };
}

/** The stems of a song, in the requested order. */
export interface RenderedStems extends Pick<RenderedSong, 'cover' | 'largeCover'> {
  stems: { mp3: Uint8Array<ArrayBuffer>; waveform: number[] }[];
}

export async function renderStems({
  plan,
  stems: names,
}: {
  plan: SongPlan;
  stems: readonly StemName[];
}): Promise<RenderedStems> {
  const { tracks, facts } = await synthesizeSong(plan);
  const cover = await drawCover(plan);
  const stems: RenderedStems['stems'] = [];
  for (const name of names) {
    const stem = mixStem(tracks, name);
    const tags = createTags(plan, cover.small, name === 'Vocals');
    const mp3 = await toMp3(stem, { ...tags, title: `${plan.title} - ${name}` });
    stems.push({ mp3, waveform: measureWaveform(stem, facts.waveform.length) });
  }
  return { stems, cover: cover.small, largeCover: cover.large };
}

/** Renders the WAV file of a song or of one of its stems. */
export async function renderSongWav({
  plan,
  stem,
}: {
  plan: SongPlan;
  stem?: StemName;
}): Promise<Uint8Array<ArrayBuffer>> {
  const { tracks } = await synthesizeSong(plan);
  return toWav(mixStem(tracks, stem));
}

function createTags(plan: SongPlan, cover: Uint8Array, isSung: boolean) {
  const { sound, title, lyrics } = plan;
  return {
    title,
    artist,
    style: sound.style,
    lyrics: isSung ? lyrics : '',
    tempo: sound.tempo,
    key: formatKeyForId3(sound),
    cover,
  };
}
