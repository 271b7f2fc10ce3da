import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { RealtimeSessionOptions } from '../../../generated/events.ts';
import type { Model } from '../../index.ts';
import { CallForm, submitForm } from '../calls/call-form.tsx';
import { CallPanel } from '../calls/call-panel.tsx';
import { useLoaded, useRun } from '../calls/run.ts';
import { Workbench } from '../calls/workbench.tsx';
import { Field } from '../contract/field.tsx';
import type { Form } from '../contract/form.ts';
import { useClient } from '../session/session.ts';
import { RealtimeCall } from './realtime-call.ts';
import { realtimeSamples } from './realtime-samples.ts';
import { SessionResult, Writer } from './realtime-session.tsx';
import { hasInstructions } from './speech-family.ts';
import { VoicePicker } from './voice-picker.tsx';

const defaultSampleRateHz = 24_000;
const defaultText = 'Every word that I write is spoken while I am still writing. ';

/** Speech that follows the keyboard. */
export function RealtimeSpeech({ form, models }: { form: Form; models: readonly Model[] }) {
  const client = useClient();
  const run = useRun<Blob>();
  const call = useSignal<RealtimeCall | undefined>(undefined);
  const text = useSignal(defaultText);
  const input = useRef<HTMLTextAreaElement>(null);
  const { model: _, ...session } = form.body.value;
  const id = form.text('model');
  const model = models.find((entry) => entry.id === id);
  const loaded = useLoaded((signal) => client.models.retrieve(id, { signal }), id).state.value;
  const voices = loaded.status === 'done' ? loaded.result.voices : undefined;
  useEffect(() => {
    if (voices && !voices.some((voice) => voice.id === form.get('voice'))) form.set('voice', voices[0]?.id);
  }, [voices]);
  const options = { ...session, response_format: 'pcm' } as unknown as RealtimeSessionOptions;
  const submit = () =>
    submitForm(form, run, (signal) => {
      const current = new RealtimeCall(options.sample_rate ?? defaultSampleRateHz);
      call.value = current;
      return current.run(client, id, options, signal, () => {
        current.write(text.peek());
        input.current?.focus();
      });
    });
  const isAlpha3 = id.startsWith('alpha3-');
  return (
    <Workbench
      outcome={call.value}
      form={
        <CallForm run={run} label="Start speaking" onSubmit={submit}>
          <Field
            form={form}
            path="model"
            label="Model"
            options={models.map((entry) => ({ value: entry.id }))}
          />
          {model && voices && <VoicePicker form={form} model={model} voices={voices} />}
          {hasInstructions(id) && <Field form={form} path="instructions" label="Instructions" rows={2} />}
          <details>
            <summary>More options</summary>
            <div class="fields">
              <Field form={form} path="mode" label="Mode" />
              <Field form={form} path="language_type" label="Language" />
              {isAlpha3 && <Field form={form} path="speech_rate" label="Speed" hint="Factor of the rate." />}
              {isAlpha3 && <Field form={form} path="pitch_rate" label="Pitch" hint="Factor of the pitch." />}
              {isAlpha3 && <Field form={form} path="volume" label="Volume" hint="50 is normal." />}
            </div>
          </details>
        </CallForm>
      }
    >
      <Writer call={call.value} text={text} input={input} />
      <SessionResult run={run} call={call.value} />
      <CallPanel samples={realtimeSamples(id, options, text.value)} />
    </Workbench>
  );
}
