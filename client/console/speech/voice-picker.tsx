import { Pause, Play } from 'lucide';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import type { Model, ModelVoice } from '../../index.ts';
import { useRun } from '../calls/run.ts';
import type { Form } from '../contract/form.ts';
import { Button } from '../parts/button.tsx';
import { Badge } from '../parts/notices.tsx';
import { Playback } from '../parts/playback.ts';
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
      <div class="voices" role="radiogroup" aria-labelledby={id} aria-invalid={problem !== undefined}>
        {voices.map((voice) => (
          <div key={voice.id} class="voice">
            <label>
              <input
                type="radio"
                name={id}
                checked={voice.id === selected}
                onChange={() => form.set('voice', voice.id)}
              />
              <VoiceText voice={voice} />
            </label>
            <SampleButton key={model.id} model={model} voice={voice} />
          </div>
        ))}
      </div>
      {problem ? (
        <p class="field-error" role="alert">
          {problem}
        </p>
      ) : (
        <p class="field-hint">A sample costs as much as any other speech.</p>
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
      {/* Names of the caller's voices are not unique. */}
      <span class="muted voice-description">{custom ? id : description}</span>
    </span>
  );
}

/** Speaks a short sentence with the voice. */
export function SampleButton({ model, voice }: { model: Model; voice: ModelVoice }) {
  const client = useClient();
  const run = useRun<void>();
  const playback = useMemo(() => new Playback(), []);
  const element = useRef<HTMLAudioElement>(null);
  useEffect(() => {
    const audio = element.current;
    if (audio === null) return undefined;
    const detach = playback.attach(audio);
    return () => {
      detach();
      if (audio.src !== '') URL.revokeObjectURL(audio.src);
    };
  }, [playback]);
  const play = async () => {
    const sample = await sampleOf(client, model, voice);
    const audio = element.current;
    if (audio === null) return;
    if (audio.src === '') audio.src = URL.createObjectURL(sample);
    playback.toggle();
  };
  const { status } = run.state.value;
  const { id, name = id } = voice;
  const isPlaying = playback.isPlaying.value;
  const failed = `The sample of ${name} failed. Try again`;
  return (
    <>
      <Button
        small
        variant="plain"
        icon={isPlaying ? Pause : Play}
        busy={status === 'running'}
        label={status === 'failed' ? failed : isPlaying ? `Pause ${name}` : `Hear ${name}`}
        onClick={() => void run.start(play)}
      />
      <audio ref={element} />
    </>
  );
}
