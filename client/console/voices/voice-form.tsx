import type { Model } from '../../index.ts';
import { CallForm, submitForm } from '../calls/call-form.tsx';
import type { Run } from '../calls/run.ts';
import { Field, type Option } from '../contract/field.tsx';
import type { Form } from '../contract/form.ts';
import { useClient } from '../session/session.ts';
import type { CreatedVoice } from './creation-result.tsx';
import { RecordingField } from './recording-field.tsx';
import { isShared, type Mode, namePath, toClone, toDesign } from './voice-request.ts';

interface VoiceFormProps {
  mode: Mode;
  form: Form;
  targets: readonly Model[];
  run: Run<void>;
  /** Receives the voice when it was created, and when it became ready. Undefined before. */
  onChange: (voice: CreatedVoice | undefined) => void;
}

export function VoiceForm({ mode, form, targets, run, onChange }: VoiceFormProps) {
  const client = useClient();
  const submit = () =>
    submitForm(form, run, async (signal) => {
      onChange(undefined);
      const created: CreatedVoice =
        mode === 'Clone'
          ? await client.voices.clone(toClone(form), { signal })
          : await client.voices.design(toDesign(form), { signal });
      onChange(created);
      await client.voices.waitFor(created, { signal });
      onChange({ ...created, status: 'OK' });
    });
  return (
    <CallForm run={run} label={mode === 'Clone' ? 'Clone the voice' : 'Design a voice'} onSubmit={submit}>
      <Field
        form={form}
        path="input.target_model"
        label="Model"
        hint="The voice works only with this model."
        options={targets.map(({ id }) => ({ value: id }))}
      />
      {mode === 'Clone' && isShared(form) && (
        <Field
          form={form}
          path="input.url"
          label="Address of the recording"
          hint="This model clones only from a public address. For a recording of this page, select a VC model."
        />
      )}
      {mode === 'Clone' && !isShared(form) && <RecordingField form={form} path="input.audio.data" />}
      {mode === 'Design' && (
        <>
          <Field
            form={form}
            path="input.voice_prompt"
            label="Description"
            rows={3}
            hint="Age, gender, mood, pace, accent."
          />
          <Field form={form} path="input.preview_text" label="Text of the preview" rows={2} hint="" />
        </>
      )}
      <Field key={namePath(form)} form={form} path={namePath(form)} label="Name" />
      <Field form={form} path="input.language" label="Language" hint="" options={languagesOf(form)} />
      {mode === 'Clone' && !isShared(form) && (
        <details>
          <summary>More options</summary>
          <Field form={form} path="input.text" label="Transcript" rows={2} />
        </details>
      )}
    </CallForm>
  );
}

const languageNames = new Intl.DisplayNames('en', { type: 'language' });

/** Returns the languages of the contract with their names. */
function languagesOf(form: Form): readonly Option[] {
  return (form.schemaAt('input.language').enum ?? []).map((code) => {
    const value = String(code);
    return { value, label: languageNames.of(value) ?? value };
  });
}
