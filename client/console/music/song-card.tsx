import { AudioLines, Disc3, FastForward, FileAudio, Scissors } from 'lucide';
import type { ClipTiming, Song, SucceededMusicTask } from '../../index.ts';
import { useLoaded, useRun } from '../calls/run.ts';
import { TaskProgress } from '../calls/task-progress.tsx';
import { useTask } from '../calls/task-run.ts';
import { AudioPlayer } from '../parts/audio-player.tsx';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { formatClock } from '../parts/numbers.tsx';
import type { TimedWord } from '../parts/timed-words.tsx';
import { useClient } from '../session/session.ts';
import { musicCalls } from './music-tasks.ts';
import { StemMixer } from './stem-mixer.tsx';

interface SongCardProps {
  song: Song;
  /** Number of the song in its task, starting at 1. */
  version: number;
  onContinue: (song: Song) => void;
}

/** A song: cover, player, lyrics in time, files, stems. */
export function SongCard({ song, version, onContinue }: SongCardProps) {
  const client = useClient();
  const { clip_id: id, title, image_url: cover, audio_url: audio, status, metadata } = song;
  const label = `${title || 'Untitled'}, version ${version}`;
  const hasLyrics = metadata.has_vocal !== false && Boolean(metadata.prompt);
  const timing = useLoaded(
    async (signal) => (hasLyrics ? client.music.timing(id, { signal }) : undefined),
    id,
  ).state.value;
  const stems = useTask<SucceededMusicTask>();
  const wav = useRun<void>();
  const separate = (stem_task: 'two' | 'twelve') =>
    void stems.submit(musicCalls(client), { task: 'gen_stem', stem_task, continue_clip_id: id });
  const words = timing.status === 'done' && timing.result ? wordsOf(timing.result) : [];
  const stemState = stems.state.value;
  const isSeparating = stemState.status === 'running';
  return (
    <article class="card stack" aria-label={label}>
      <div class="song-head">
        {cover === '' ? <Icon node={Disc3} size={32} /> : <img src={cover} alt="" width={88} height={88} />}
        <div>
          <h2>{title || 'Untitled'}</h2>
          <p class="secondary">{metadata.tags}</p>
          <p class="muted numeric">
            Version {version}
            {typeof metadata.duration === 'number' && ` · ${formatClock(metadata.duration)}`}
            {song.model_name && ` · ${song.model_name}`}
          </p>
        </div>
      </div>
      {status === 'error' || audio === '' ? (
        <ErrorNotice error={metadata.error_message ?? 'The song has no audio.'} />
      ) : (
        <>
          <AudioPlayer source={audio} label={label} fileName={`${fileNameOf(title)}.mp3`} words={words} />
          {words.length === 0 && hasLyrics && (
            <p class="timed-words" tabIndex={0} role="region" aria-label={`Lyrics of ${label}`}>
              {metadata.prompt}
            </p>
          )}
          <div class="row">
            <Button
              small
              icon={FileAudio}
              busy={wav.state.value.status === 'running'}
              onClick={() =>
                void wav.start(async (signal) =>
                  download(
                    await client.music.urlOf(id, { variant: 'wav', signal }),
                    `${fileNameOf(title)}.wav`,
                  ),
                )
              }
            >
              WAV
            </Button>
            <Button small icon={FastForward} onClick={() => onContinue(song)}>
              Continue
            </Button>
            <Button small icon={Scissors} disabled={isSeparating} onClick={() => separate('two')}>
              Separate vocals
            </Button>
            <Button small icon={AudioLines} disabled={isSeparating} onClick={() => separate('twelve')}>
              Separate instruments
            </Button>
          </div>
          {wav.state.value.status === 'failed' && <ErrorNotice error={wav.state.value.error} />}
          <TaskProgress run={stems} label={`Stems of ${label}`} />
          {stemState.status === 'done' && (
            <StemMixer
              key={stemState.result.task_id}
              label={`Mixer of ${label}`}
              stems={stemState.result.data}
            />
          )}
        </>
      )}
    </article>
  );
}

/** A word may begin with the marker of its section, such as `[Verse 1]`, which is not sung. */
function wordsOf({ aligned_words: words }: ClipTiming): TimedWord[] {
  return words.flatMap(({ word, start_s: startSeconds, end_s: endSeconds }) => {
    const [, marker = '', sung = word] = /^(.*\n)(.+)$/s.exec(word) ?? [];
    const timed = { text: sung, startSeconds, endSeconds };
    return marker === '' ? [timed] : [{ text: marker, startSeconds, endSeconds: startSeconds }, timed];
  });
}

/** Returns a title as the name of a file. */
const fileNameOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '') || 'song';

function download(url: string, fileName: string): void {
  const link = Object.assign(document.createElement('a'), { href: url, download: fileName });
  link.click();
}
