import { useSignal } from '@preact/signals';
import { Music } from 'lucide';
import { useMemo } from 'preact/hooks';
import type { Model, MusicRequest, Song, SucceededMusicTask } from '../../index.ts';
import { CallPanel } from '../calls/call-panel.tsx';
import { useModelInAddress } from '../calls/models.ts';
import { RecentTasks } from '../calls/recent-tasks.tsx';
import { requireModels } from '../calls/require-models.tsx';
import { clientSample, shownJson } from '../calls/samples.ts';
import { type OpenedTask, useTaskInAddress } from '../calls/task-address.ts';
import { TaskProgress } from '../calls/task-progress.tsx';
import { useTask } from '../calls/task-run.ts';
import { taskSamples } from '../calls/task-samples.ts';
import { Workbench } from '../calls/workbench.tsx';
import { useContract } from '../contract/contract.ts';
import { Form } from '../contract/form.ts';
import { EmptyState } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { bodyOf, initialSong, type Mode } from './draft.ts';
import './music.css';
import { musicCalls } from './music-tasks.ts';
import { SongCard } from './song-card.tsx';
import { SongForm } from './song-form.tsx';

interface VersionedSong {
  song: Song;
  /** Number of the song in its task, starting at 1. */
  version: number;
}

const operations = ['submitMusic'] as const;

/** Creates songs from a description or from lyrics, continues them and separates their stems. */
function Page({ models }: { models: readonly Model[] }) {
  const client = useClient();
  const loaded = useContract();
  const form = useMemo(() => new Form(loaded, loaded.body('submitMusic'), initialSong), [loaded]);
  const mode = useSignal<Mode>('Description');
  // A request does not name its model. The model of lyrics has a mode of its own.
  useModelInAddress(models, ({ id }) => (mode.value = id === 'sigma_lyrics' ? 'Lyrics' : 'Description'));
  const task = useTask<SucceededMusicTask>();
  const songs = useSignal<readonly VersionedSong[]>([]);
  const body = bodyOf(form, mode.value);
  const calls = musicCalls(client, ({ data }) => {
    const shown = data.map((song, index) => ({ song, version: index + 1 }));
    const isShown = ({ song }: VersionedSong) => data.some(({ clip_id: id }) => id === song.clip_id);
    songs.value = [...shown, ...songs.peek().filter((other) => !isShown(other))];
  });
  const open = ({ id, request_id: requestId }: OpenedTask) => void task.follow(calls, id, requestId);
  const shownId = task.view.value?.id;
  useTaskInAddress(shownId, open);
  const submit = async () => {
    if (!form.checkAll()) return;
    await task.submit(calls, body);
    const state = task.state.peek();
    if (state.status === 'failed' && form.reject(state.error)) task.reset();
  };
  return (
    <div class="stack">
      <Workbench
        outcome={task.outcome}
        form={
          <SongForm
            form={form}
            mode={mode.value}
            run={task}
            onMode={(name) => (mode.value = name)}
            onSubmit={submit}
          />
        }
      >
        {task.view.value !== undefined && (
          <div class="card">
            <TaskProgress run={task} />
          </div>
        )}
        {songs.value.length === 0 && task.view.value === undefined && (
          <EmptyState icon={Music} title="No songs yet">
            <p>Describe a song and create it. The gateway returns two versions.</p>
          </EmptyState>
        )}
        {songs.value.map(({ song, version }) => (
          <SongCard
            key={song.clip_id}
            song={song}
            version={version}
            onContinue={({ clip_id: id, metadata: { duration } }) => {
              form.set('continue_clip_id', id);
              // Rounded down, because a continuation cannot start after the end.
              form.set('continue_at', duration ? Math.floor(duration) : undefined);
            }}
          />
        ))}
        <CallPanel samples={songSamples(body)} />
      </Workbench>
      <RecentTasks
        operations={operations}
        format="music"
        shownId={shownId}
        refreshKey={`${shownId} ${task.state.value.status}`}
        onOpen={open}
      />
    </div>
  );
}

function songSamples(body: MusicRequest) {
  return taskSamples('submitMusic', body, {
    TypeScript: clientSample(`const songs = await client.music.createAndWait(${shownJson(body)});
console.log(songs.map(({ audio_url }) => audio_url));`),
  });
}

export default requireModels(Page, {
  title: 'Music',
  intro: 'Create songs, continue them and separate their stems.',
  icon: Music,
  protocols: ['sigma'],
  kind: 'music',
});
