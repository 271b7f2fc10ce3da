import { useSignal } from '@preact/signals';
import { AudioLines } from 'lucide';
import type { Model, SpeechRequest } from '../../index.ts';
import { CallForm, submitForm } from '../calls/call-form.tsx';
import { CallPanel } from '../calls/call-panel.tsx';
import { Cost } from '../calls/cost.tsx';
import { outcomeOf, type Run, useRun } from '../calls/run.ts';
import { Workbench } from '../calls/workbench.tsx';
import type { Form } from '../contract/form.ts';
import { AudioPlayer } from '../parts/audio-player.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatBytes, formatDuration } from '../parts/numbers.tsx';
import { Stats } from '../parts/stats.tsx';
import { useClient } from '../session/session.ts';
import { generate, type SpokenFile } from './generate.ts';
import { familyOf, fileFormats, wordTimes } from './speech-family.ts';
import { SpeechFields } from './speech-fields.tsx';
import { speechSamples } from './speech-samples.ts';

/** Speech as a complete file. */
export function GenerateTab({ form, models }: { form: Form; models: readonly Model[] }) {
  const client = useClient();
  const run = useRun<SpokenFile>();
  const family = familyOf(models.find(({ id }) => id === form.get('model')));
  const hasWords = form.get(wordTimes) === true;
  const body = { ...form.body.value, ...(hasWords && { stream_format: 'sse' }) } as unknown as SpeechRequest;
  const submit = () => submitForm(form, run, (signal) => generate(client, body, signal));
  return (
    <Workbench
      outcome={outcomeOf(run.state.value)}
      form={
        <CallForm run={run} label="Generate speech" onSubmit={submit}>
          <SpeechFields form={form} models={models} formats={fileFormats(form.contract, family)} />
        </CallForm>
      }
    >
      <Result run={run} voice={body.voice} />
      <CallPanel samples={speechSamples(body, family.defaultFormat)} />
    </Workbench>
  );
}

function Result({ run, voice }: { run: Run<SpokenFile>; voice: unknown }) {
  const durationSeconds = useSignal<number | undefined>(undefined);
  const state = run.state.value;
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (state.status === 'running') return <div class="skeleton speech-placeholder" />;
  if (state.status !== 'done')
    return (
      <EmptyState icon={AudioLines} title="Your speech appears here">
        <p>Choose a voice and generate speech.</p>
      </EmptyState>
    );
  const { file, format, words, firstByteMs, totalMs, requestId } = state.result;
  return (
    <section class="card stack" aria-label="Result">
      <AudioPlayer
        source={file}
        label={`speech of ${String(voice)}`}
        fileName={`speech.${format}`}
        words={words}
        autoPlay
        onDuration={(seconds) => (durationSeconds.value = seconds)}
      />
      <Stats
        items={{
          'First byte': formatDuration(firstByteMs),
          Total: formatDuration(totalMs),
          Duration: durationSeconds.value && formatDuration(durationSeconds.value * 1_000),
          Format: `${format}, ${formatBytes(file.size)}`,
          Cost: requestId && <Cost requestId={requestId} />,
        }}
      />
    </section>
  );
}
