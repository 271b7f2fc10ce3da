import { PenLine, Square } from 'lucide';
import { useMemo } from 'preact/hooks';
import type { SucceededLyricsTask } from '../../index.ts';
import { useRun } from '../calls/run.ts';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';

type Lyrics = SucceededLyricsTask['data'];

/** Asks a model for lyrics about a subject. */
export function LyricsWriter({ onWritten }: { onWritten: (lyrics: Lyrics) => void }) {
  const client = useClient();
  const contract = useContract();
  const form = useMemo(
    () => new Form(contract, contract.body('submitLyrics'), { prompt: 'A lullaby for a lighthouse' }),
    [contract],
  );
  const run = useRun<void>();
  const state = run.state.value;
  const write = async () => {
    if (!form.check('prompt')) return;
    await run.start(async (signal) => {
      const prompt = String(form.body.peek().prompt);
      const { data } = await client.lyrics.createAndWait({ prompt }, { signal, pollIntervalMs: 1_000 });
      onWritten(data);
    });
    const ended = run.state.peek();
    if (ended.status === 'failed' && form.reject(ended.error)) run.reset();
  };
  const isRunning = state.status === 'running';
  return (
    <div
      class="lyrics-writer fields"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.shiftKey || event.ctrlKey || event.metaKey || event.isComposing)
          return;
        event.preventDefault();
        if (!isRunning) void write();
      }}
    >
      <Field form={form} path="prompt" label="Write lyrics for me" hint="" rows={1} />
      <div class="row">
        <Button small icon={PenLine} busy={isRunning} onClick={() => void write()}>
          {isRunning ? 'Writing' : 'Write lyrics'}
        </Button>
        {isRunning && (
          <Button small icon={Square} onClick={() => run.stop()}>
            Stop
          </Button>
        )}
        <span class="visually-hidden" role="status">
          {state.status === 'done' && 'The lyrics are written.'}
        </span>
      </div>
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
    </div>
  );
}
