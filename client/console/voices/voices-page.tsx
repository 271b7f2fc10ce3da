import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { CallPanel } from '../calls/call-panel.tsx';
import { useModelInAddress, useModels } from '../calls/models.ts';
import { outcomeOf, useRun } from '../calls/run.ts';
import { Workbench } from '../calls/workbench.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { PageHead } from '../shell/page-head.tsx';
import { type CreatedVoice, CreationResult } from './creation-result.tsx';
import { useVoiceForm } from './use-voice-form.ts';
import { VoiceForm } from './voice-form.tsx';
import { VoiceList } from './voice-list.tsx';
import { type Mode, targetsOf, voiceSamples } from './voice-request.ts';
import './voices.css';

const modes: readonly Mode[] = ['Clone', 'Design'];

/** Voices of the key's user: cloned from a recording, or designed from a description. */
export default function VoicesPage() {
  const models = useModels(['synthesizer', 'multimodal', 'inference', 'realtime']);
  const mode = useSignal<Mode>('Clone');
  const run = useRun<void>();
  const created = useSignal<CreatedVoice | undefined>(undefined);
  /** Increments when a voice was created or became ready. */
  const version = useSignal(0);
  useModelInAddress(models, ({ id }) => {
    const isTarget = (name: Mode) => targetsOf(name, models ?? []).some((target) => target.id === id);
    if (!isTarget(mode.peek())) mode.value = modes.find(isTarget) ?? 'Clone';
  });
  const targets = useMemo(() => models && targetsOf(mode.value, models), [models !== undefined, mode.value]);
  const form = useVoiceForm(mode.value, targets);
  useModelInAddress(form && targets, ({ id }) => form?.set('input.target_model', id));
  return (
    <>
      <PageHead title="Voices">Clone a voice from a recording, or design one from a description.</PageHead>
      <Workbench
        outcome={created.value ?? outcomeOf(run.state.value)}
        form={
          <Tabs
            label="New voice"
            names={modes}
            selected={mode.value}
            onSelect={(name) => {
              run.reset();
              created.value = undefined;
              mode.value = modes.find((entry) => entry === name) ?? 'Clone';
            }}
          >
            <div class="voices-form">
              {form && targets && (
                <VoiceForm
                  key={mode.value}
                  mode={mode.value}
                  form={form}
                  targets={targets}
                  run={run}
                  onChange={(voice) => {
                    created.value = voice;
                    version.value += 1;
                  }}
                />
              )}
              {targets?.length === 0 && <p class="notice">This key can use no model with custom voices.</p>}
            </div>
          </Tabs>
        }
      >
        <CreationResult voice={created.value} run={run} models={models ?? []} />
        <VoiceList models={models ?? []} version={version.value} />
        {form && <CallPanel samples={voiceSamples(mode.value, form)} />}
      </Workbench>
    </>
  );
}
