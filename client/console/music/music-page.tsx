import { useSignal } from '@preact/signals';
import { Music } from 'lucide';
import { useMemo } from 'preact/hooks';
import type { MusicRequest, Song, SucceededMusicTask } from '../../index.ts';
import { CallPanel } from '../calls/call-panel.tsx';
import { requireModels } from '../calls/require-models.tsx';
import { clientSample, samplesOf, shownJson } from '../calls/samples.ts';
import { TaskProgress } from '../calls/task-progress.tsx';
import { useTask } from '../calls/task-run.ts';
import { useContract } from '../contract/contract.ts';
import { Form } from '../contract/form.ts';
import { EmptyState } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { bodyOf, initialSong, type Mode } from './draft.ts';
import './music.css';
import { musicCalls } from './music-tasks.ts';
import { SongCard } from './song-card.tsx';
import { SongForm } from './song-form.tsx';

/** Creates songs from a description or from lyrics, continues them and separates their stems. */
function Workbench() {
  const client = useClient();
  const loaded = useContract();
  const form = useMemo(() => new Form(loaded, loaded.body('submitMusic'), initialSong), [loaded]);
  const mode = useSignal<Mode>('Description');
  const task = useTask<SucceededMusicTask>();
  const songs = useSignal<readonly { song: Song; version: number }[]>([]);
  const body = bodyOf(form, mode.value);
  const submit = async () => {
    if (!form.checkAll()) return;
    const calls = musicCalls(client, ({ data }) => {
      songs.value = [...data.map((song, index) => ({ song, version: index + 1 })), ...songs.peek()];
    });
    await task.submit(calls, body);
    const state = task.state.peek();
    if (state.status === 'failed' && form.reject(state.error)) task.reset();
  };
  return (
    <div class="workbench">
      <SongForm
        form={form}
        mode={mode.value}
        run={task}
        onMode={(name) => (mode.value = name)}
        onSubmit={submit}
      />
      <div class="stack">
        <TaskProgress run={task} />
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
      </div>
    </div>
  );
}

function songSamples(body: MusicRequest) {
  return samplesOf('submitMusic', body, {
    extra: {
      TypeScript: clientSample(`const songs = await client.music.createAndWait(${shownJson(body)});
console.log(songs.map(({ audio_url }) => audio_url));`),
    },
  });
}

export default requireModels(Workbench, {
  title: 'Music',
  intro: 'Create songs, continue them and separate their stems.',
  icon: Music,
  protocols: ['sigma'],
  kind: 'music',
});
