import type { Signal } from '@preact/signals';
import type { Model } from '../../index.ts';
import { CallForm } from '../calls/call-form.tsx';
import type { Run } from '../calls/run.ts';
import { Field } from '../contract/field.tsx';
import type { Form } from '../contract/form.ts';
import { Tabs } from '../parts/tabs.tsx';
import { type Input, inputs, views } from './draft.ts';

interface Models3dFormProps {
  form: Form;
  models: readonly Model[];
  input: Signal<Input>;
  run: Run<unknown>;
  onSubmit: () => Promise<void>;
}

export function Models3dForm({ form, models, input, run, onSubmit }: Models3dFormProps) {
  return (
    <CallForm hasTask run={run} label="Create object" onSubmit={onSubmit}>
      <Field
        form={form}
        path="model"
        label="Model"
        hint=""
        options={models.map(({ id }) => ({ value: id }))}
      />
      <Tabs
        label="Input"
        names={inputs}
        selected={input.value}
        onSelect={(name) => {
          input.value = name as Input;
        }}
      >
        <div class="fields input-panel">
          {input.value === 'Text' && (
            <Field form={form} path="input.prompt" label="Prompt" rows={4} hint="" />
          )}
          {input.value === 'Image' && <Field form={form} path="input.image" label="Image" />}
          {input.value === 'Views' &&
            views.map((name) => (
              <Field
                key={name}
                form={form}
                path={name}
                label={`${name.charAt(0).toUpperCase()}${name.slice(1)} view`}
                placeholder={`https://files.example/horse-${name}.png`}
                hint={name === 'front' ? 'Required. Address of a JPEG or PNG file.' : ''}
              />
            ))}
        </div>
      </Tabs>
      <Field form={form} path="parameters.texture_quality" label="Texture quality" hint="" />
      <details>
        <summary>More options</summary>
        <div class="fields">
          <Field form={form} path="parameters.geometry_quality" label="Geometry quality" />
          <Field form={form} path="parameters.texture" label="Texture" hint="" />
          {form.get('parameters.texture') !== false && (
            <Field form={form} path="parameters.pbr" label="Physically based materials" hint="" />
          )}
        </div>
      </details>
    </CallForm>
  );
}
