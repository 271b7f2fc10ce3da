import { useEffect, useRef } from 'preact/hooks';
import type { Model, ModelVoice } from '../../index.ts';
import { useLoaded } from '../calls/run.ts';
import { Field } from '../contract/field.tsx';
import type { Form } from '../contract/form.ts';
import { useClient } from '../session/session.ts';
import { replaceQuery, route } from '../shell/router.ts';
import { familyOf, hasInstructions, type SpeechFamily, wordTimes } from './speech-family.ts';
import { VoicePicker } from './voice-picker.tsx';

interface SpeechFieldsProps {
  form: Form;
  models: readonly Model[];
  /** Allowed formats. Without them the page chooses the format. */
  formats?: readonly string[];
  /** Paths of options that the page sets itself. */
  hidden?: readonly (string | undefined)[];
}

/** The fields of a speech request. They follow from the selected model. */
export function SpeechFields({ form, models, formats, hidden = [] }: SpeechFieldsProps) {
  const { model, family, voices } = useSelection(form, models);
  if (model === undefined) return null;
  return (
    <>
      <Field form={form} path="input" label="Text" model={model.id} rows={5} hint="" />
      <Field
        form={form}
        path="model"
        label="Model"
        hint=""
        options={models.map(({ id }) => ({ value: id }))}
      />
      <VoicePicker form={form} model={model} voices={voices} />
      {hasInstructions(model.id) && (
        <Field
          form={form}
          path="instructions"
          label="Instructions"
          hint="How the voice should speak."
          placeholder="Whisper, slowly and kindly."
          rows={2}
        />
      )}
      {family.hasWordTimes && !hidden.includes(wordTimes) && (
        <Field
          form={form}
          path={wordTimes}
          label="Highlight the words"
          hint="The gateway sends events with the time of each word."
        />
      )}
      <details>
        <summary>More options</summary>
        <div class="fields">
          {formats && formats.length > 1 && (
            <Field
              form={form}
              path="response_format"
              label="Format"
              hint=""
              options={formats.map((value) => ({ value }))}
            />
          )}
          {family.hasSpeed && <Field form={form} path="speed" label="Speed" />}
          {family.options
            .filter(({ path }) => !hidden.includes(path))
            .map((option) => (
              <Field key={option.path} form={form} {...option} />
            ))}
          {hasInstructions(model.id) && (
            <Field
              form={form}
              path="extra_body.input.optimize_instructions"
              label="Let the provider rewrite the instructions"
              hint="Requires instructions."
            />
          )}
        </div>
      </details>
    </>
  );
}

interface Selection {
  model: Model | undefined;
  family: SpeechFamily;
  /** The voices of the model: those of the system, and the caller's once they are loaded. */
  voices: readonly ModelVoice[];
}

/** Keeps the voice, the options and the address in step with the selected model. */
function useSelection(form: Form, models: readonly Model[]): Selection {
  const client = useClient();
  const id = form.text('model');
  const model = models.find((entry) => entry.id === id);
  const family = familyOf(model);
  const loaded = useLoaded((signal) => client.models.retrieve(id, { signal }), id).state.value;
  const ownVoices = loaded.status === 'done' && loaded.result.id === id ? loaded.result.voices : undefined;
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current)
      for (const path of ['response_format', 'speed', 'instructions']) form.set(path, undefined);
    if (!isFirst.current) form.set('extra_body', undefined);
    isFirst.current = false;
  }, [form, family.name, hasInstructions(id)]);
  useEffect(() => {
    if (ownVoices && !ownVoices.some((voice) => voice.id === form.get('voice')))
      form.set('voice', ownVoices[0]?.id);
  }, [form, ownVoices]);
  const voice = form.text('voice');
  const shown = route.value;
  useEffect(() => {
    // After a change of the address, the form already has the new model, while `id` is still the old one.
    if (ownVoices && form.get('model') === id)
      replaceQuery({ ...Object.fromEntries(shown.query), model: id, voice }, shown);
  }, [id, voice, ownVoices]);
  return { model, family, voices: ownVoices ?? model?.voices ?? [] };
}
