import { useSignal } from '@preact/signals';
import { Radio } from 'lucide';
import type { Model, SpeechRequest, Unigate } from '../../index.ts';
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
import { LiveWaveform } from './live-waveform.tsx';
import { PcmPlayer } from './pcm-player.ts';
import { familyOf, wordTimes } from './speech-family.ts';
import { SpeechFields } from './speech-fields.tsx';
import { speechSamples } from './speech-samples.ts';

const sampleRateHz = 24_000;

interface StreamedSpeech {
  file: Blob;
  requestId: string | undefined;
  totalMs: number;
}

/** Speech that plays while it arrives. */
export function StreamTab({ form, models }: { form: Form; models: readonly Model[] }) {
  const client = useClient();
  const run = useRun<StreamedSpeech>();
  const player = useSignal<PcmPlayer | undefined>(undefined);
  const { sampleRate } = familyOf(models.find(({ id }) => id === form.get('model')));
  const body = streamBody(form, sampleRate);
  const submit = () =>
    submitForm(form, run, (signal) => {
      const current = new PcmPlayer(sampleRateHz);
      player.value = current;
      return stream(client, body, current, signal);
    });
  return (
    <Workbench
      outcome={outcomeOf(run.state.value)}
      form={
        <CallForm run={run} label="Stream speech" onSubmit={submit}>
          <SpeechFields form={form} models={models} hidden={[sampleRate, wordTimes]} />
        </CallForm>
      }
    >
      <Result run={run} player={player.value} />
      <CallPanel samples={speechSamples(body, 'pcm')} />
    </Workbench>
  );
}

/** Adds the format that Web Audio plays without a decoder. */
function streamBody(form: Form, sampleRate: string | undefined): SpeechRequest {
  const copy = form.copy();
  copy.set(wordTimes, undefined);
  if (sampleRate !== undefined) copy.set(sampleRate, sampleRateHz);
  return { ...copy.body.value, response_format: 'pcm', stream: true } as unknown as SpeechRequest;
}

async function stream(
  client: Unigate,
  body: SpeechRequest,
  player: PcmPlayer,
  signal: AbortSignal,
): Promise<StreamedSpeech> {
  const startedAt = performance.now();
  const close = () => void player.close();
  signal.addEventListener('abort', close);
  try {
    const audio = await client.speech.create({ ...body, stream_format: 'audio' }, { signal });
    for await (const chunk of audio) player.push(chunk);
    const totalMs = performance.now() - startedAt;
    await player.drain();
    return { file: player.file(), requestId: audio.requestId, totalMs };
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}

function Result({ run, player }: { run: Run<StreamedSpeech>; player: PcmPlayer | undefined }) {
  const state = run.state.value;
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (player === undefined || state.status === 'idle')
    return (
      <EmptyState icon={Radio} title="The speech plays while it arrives">
        <p>Stream speech to hear it, and to see the time until its first sound.</p>
      </EmptyState>
    );
  const requestId = state.status === 'done' ? state.result.requestId : undefined;
  const firstSound = player.firstSoundMs.value;
  return (
    <section class="card stack" aria-label="Result">
      {state.status === 'done' ? (
        <AudioPlayer source={state.result.file} label="the streamed speech" fileName="speech.wav" />
      ) : (
        <LiveWaveform peaks={player.peaks} />
      )}
      <Stats
        items={{
          'First sound': firstSound === undefined ? '…' : formatDuration(firstSound),
          Total: state.status === 'done' ? formatDuration(state.result.totalMs) : '…',
          Received: formatBytes(player.bytes.value),
          Cost: requestId && <Cost requestId={requestId} />,
        }}
      />
    </section>
  );
}
