import { drawCover } from './cover.ts';
import { keyCode } from './harmony.ts';
import type { StemName } from './instruments/names.ts';
import { stemOf, waveformOf } from './mix.ts';
import { perform } from './perform.ts';
import { toMp3, toWav } from './song-files.ts';
import type { SongFacts, SongPlan } from './song-plan.ts';

/** Whom the tags name. */
const artist = 'Unigate Sandbox';

/** A finished song: its MP3 and the PNGs of its cover. */
export interface RenderedSong {
  facts: SongFacts;
  mp3: Uint8Array<ArrayBuffer>;
  cover: Uint8Array<ArrayBuffer>;
  largeCover: Uint8Array<ArrayBuffer>;
}

export async function renderSong(plan: SongPlan): Promise<RenderedSong> {
  const { tracks, facts } = await perform(plan);
  const cover = await drawCover(plan);
  const mp3 = await toMp3(stemOf(tracks, undefined), tagsOf(plan, cover.small, facts.words.length > 0));
  return { facts, mp3, cover: cover.small, largeCover: cover.large };
}

/** A song taken apart, in the order asked for. */
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
  const { tracks, facts } = await perform(plan);
  const cover = await drawCover(plan);
  const stems: RenderedStems['stems'] = [];
  for (const name of names) {
    const stem = stemOf(tracks, name);
    const tags = tagsOf(plan, cover.small, name === 'Vocals');
    const mp3 = await toMp3(stem, { ...tags, title: `${plan.title} - ${name}` });
    stems.push({ mp3, waveform: waveformOf(stem, facts.waveform.length) });
  }
  return { stems, cover: cover.small, largeCover: cover.large };
}

/** The WAV file of a song or of one of its stems. */
export async function renderSongWav({
  plan,
  stem,
}: {
  plan: SongPlan;
  stem?: StemName;
}): Promise<Uint8Array<ArrayBuffer>> {
  const { tracks } = await perform(plan);
  return toWav(stemOf(tracks, stem));
}

function tagsOf(plan: SongPlan, cover: Uint8Array, isSung: boolean) {
  const { sound, title, lyrics } = plan;
  return {
    title,
    artist,
    style: sound.style,
    lyrics: isSung ? lyrics : '',
    tempo: sound.tempo,
    key: keyCode(sound),
    cover,
  };
}
