import { useSignal } from '@preact/signals';
import { Columns3, Plus, X } from 'lucide';
import { useId, useMemo } from 'preact/hooks';
import type { Model } from '../../index.ts';
import { CallForm, submitForm } from '../calls/call-form.tsx';
import { CallPanel } from '../calls/call-panel.tsx';
import { useRun } from '../calls/run.ts';
import { Workbench } from '../calls/workbench.tsx';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { Comparison, type Contender } from './comparison.tsx';
import { generate } from './generate.ts';
import { familyOf } from './speech-family.ts';
import { speechSamples } from './speech-samples.ts';

const maxContenders = 6;

interface Choice {
  model: string;
  voice: string;
}

/** One text by several voices, side by side. */
export function CompareTab({ form: shared, models }: { form: Form; models: readonly Model[] }) {
  const client = useClient();
  const run = useRun<void>();
  // Only the text is shared: the options of one model do not fit the others.
  const form = useMemo(
    () => new Form(shared.contract, shared.schema, { input: shared.get('input') }),
    [shared],
  );
  const choices = useSignal<readonly Choice[]>(initialChoices(models, shared.text('model')));
  const contenders = useSignal<readonly Contender[]>([]);
  const input = form.text('input');
  const set = (index: number, choice: Choice) => {
    choices.value = choices.value.map((other, position) => (position === index ? choice : other));
  };
  const submit = () =>
    submitForm(form, run, async (signal) => {
      contenders.value = choices.peek().map((choice) => ({ ...choice, status: 'waiting' }));
      // One after the other: calls at the same time would slow each other down.
      for (const [index, { model, voice }] of choices.peek().entries()) {
        const update = (change: Partial<Contender>) => {
          contenders.value = contenders.value.with(index, { model, voice, status: 'waiting', ...change });
        };
        update({ status: 'running' });
        try {
          update({ status: 'done', result: await generate(client, { model, voice, input }, signal) });
        } catch (error) {
          if (signal.aborted) throw error;
          update({ status: 'failed', error });
        }
      }
    });
  const [first] = choices.value;
  const firstModel = models.find(({ id }) => id === first?.model);
  return (
    <Workbench
      outcome={run.state.value.status === 'idle' ? undefined : contenders.value.length}
      form={
        <CallForm run={run} label={`Compare ${choices.value.length} voices`} onSubmit={submit}>
          <Field form={form} path="input" label="Text" rows={5} hint="" />
          <ul class="choices" aria-label="Voices">
            {choices.value.map((choice, index) => (
              <ChoiceRow
                key={index}
                choice={choice}
                models={models}
                number={index + 1}
                onChange={(changed) => set(index, changed)}
                onRemove={
                  choices.value.length > 1
                    ? () => (choices.value = choices.value.filter((_, position) => position !== index))
                    : undefined
                }
              />
            ))}
          </ul>
          <div>
            <Button
              small
              icon={Plus}
              disabled={choices.value.length >= maxContenders}
              onClick={() => (choices.value = [...choices.value, nextChoice(models, choices.value)])}
            >
              Add a voice
            </Button>
          </div>
        </CallForm>
      }
    >
      {contenders.value.length === 0 || run.state.value.status === 'idle' ? (
        <EmptyState icon={Columns3} title="Hear one text by several voices">
          <p>Choose models and voices, then compare their sound and speed.</p>
        </EmptyState>
      ) : (
        <Comparison contenders={contenders.value} />
      )}
      {first && (
        <CallPanel samples={speechSamples({ ...first, input }, familyOf(firstModel).defaultFormat)} />
      )}
    </Workbench>
  );
}

interface ChoiceRowProps {
  choice: Choice;
  models: readonly Model[];
  number: number;
  onChange: (choice: Choice) => void;
  onRemove: (() => void) | undefined;
}

function ChoiceRow({ choice, models, number, onChange, onRemove }: ChoiceRowProps) {
  const id = useId();
  const voices = models.find((model) => model.id === choice.model)?.voices ?? [];
  return (
    <li class="choice">
      <select
        class="input"
        aria-label={`Model ${number}`}
        value={choice.model}
        onChange={({ currentTarget: { value } }) => onChange(firstChoice(models, value))}
      >
        {models.filter(hasVoices).map((model) => (
          <option key={model.id}>{model.id}</option>
        ))}
      </select>
      <select
        id={id}
        class="input"
        aria-label={`Voice ${number}`}
        value={choice.voice}
        onChange={({ currentTarget: { value: voice } }) => onChange({ ...choice, voice })}
      >
        {voices.map((voice) => (
          <option key={voice.id} value={voice.id}>
            {voice.name ?? voice.id}
          </option>
        ))}
      </select>
      <Button
        variant="plain"
        icon={X}
        label={`Remove voice ${number}`}
        disabled={onRemove === undefined}
        onClick={() => onRemove?.()}
      />
    </li>
  );
}

const hasVoices = ({ voices = [] }: Model) => voices.length > 0;

/** Returns the first voice of a model. */
function firstChoice(models: readonly Model[], model: string): Choice {
  return { model, voice: models.find(({ id }) => id === model)?.voices?.[0]?.id ?? '' };
}

/** Returns three voices of the model, or of the first model that has voices. */
function initialChoices(models: readonly Model[], id: string): readonly Choice[] {
  const model = models.find((entry) => entry.id === id && hasVoices(entry)) ?? models.find(hasVoices);
  return (model?.voices ?? []).slice(0, 3).map((voice) => ({ model: model?.id ?? '', voice: voice.id }));
}

/** Returns a voice of the last model that is not compared yet. */
function nextChoice(models: readonly Model[], choices: readonly Choice[]): Choice {
  const { model = models[0]?.id ?? '' } = choices.at(-1) ?? {};
  const used = choices.filter((choice) => choice.model === model).map(({ voice }) => voice);
  const unused = models.find(({ id }) => id === model)?.voices?.find(({ id }) => !used.includes(id));
  return unused ? { model, voice: unused.id } : firstChoice(models, model);
}
