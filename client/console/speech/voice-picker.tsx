import { Play } from 'lucide';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Model, ModelVoice } from '../../index.ts';
import { useRun } from '../calls/run.ts';
import type { Form } from '../contract/form.ts';
import { Button } from '../parts/button.tsx';
import { Badge } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { addressOf } from '../shell/router.ts';
import { sampleOf } from './voice-sample.ts';

/** The voices of a model, each with a sample. */
export function VoicePicker({
  form,
  model,
  voices,
}: {
  form: Form;
  model: Model;
  voices: readonly ModelVoice[];
}) {
  const id = useId();
  useEffect(() => form.show('voice'), [form]);
  const selected = form.get('voice');
  const problem = form.problem('voice');
  if (voices.length === 0)
    return (
      <div class="field">
        <span class="field-label">Voice</span>
        <p class="notice">
          <span>
            This model speaks only with your own voices. <a href={addressOf('voices')}>Create a voice</a>
          </span>
        </p>
        {problem && <p class="field-error">{problem}</p>}
      </div>
    );
  return (
    <div class="field">
      <span class="field-label" id={id}>
        Voice <span class="field-limit">{voices.length} available</span>
      </span>
      <ul class="voices" role="radiogroup" aria-labelledby={id} aria-invalid={problem !== undefined}>
        {voices.map((voice) => (
          <li key={voice.id} class="voice">
            <label>
              <input
                type="radio"
                name={id}
                checked={voice.id === selected}
                onChange={() => form.set('voice', voice.id)}
              />
              <VoiceText voice={voice} />
            </label>
            <SampleButton model={model} voice={voice} />
          </li>
        ))}
      </ul>
      {problem && (
        <p class="field-error" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function VoiceText({ voice }: { voice: ModelVoice }) {
  const { id, name = id, gender, languages = [], description, custom } = voice;
  const facts = [gender, ...languages].filter(Boolean).join(' · ');
  return (
    <span class="voice-text">
      <span class="row">
        <strong>{name}</strong>
        {custom && <Badge tone="accent">Yours</Badge>}
        <span class="muted">{facts}</span>
      </span>
      {description && <span class="muted voice-description">{description}</span>}
    </span>
  );
}

/** Speaks a short sentence with the voice. */
export function SampleButton({ model, voice }: { model: Model; voice: ModelVoice }) {
  const client = useClient();
  const run = useRun<void>();
  const audio = useRef<HTMLAudioElement | undefined>(undefined);
  useEffect(() => () => audio.current?.pause(), []);
  const play = async () => {
    const url = URL.createObjectURL(await sampleOf(client, model, voice));
    audio.current?.pause();
    audio.current = new Audio(url);
    audio.current.addEventListener('ended', () => URL.revokeObjectURL(url), { once: true });
    await audio.current.play();
  };
  const { status } = run.state.value;
  const { id, name = id } = voice;
  return (
    <Button
      small
      variant="plain"
      icon={Play}
      busy={status === 'running'}
      label={status === 'failed' ? `The sample of ${name} failed. Try again` : `Hear ${name}`}
      onClick={() => void run.start(play)}
    />
  );
}
