import { useRef } from 'preact/hooks';
import type { Model } from '../../index.ts';
import { useContract } from '../contract/contract.ts';
import type { Form, JsonObject } from '../contract/form.ts';
import { createVoiceForm, isShared, type Mode } from './voice-request.ts';

/** Returns the form of a mode. A model of the other service gets a form with the rules of that service. */
export function useVoiceForm(mode: Mode, targets: readonly Model[] | undefined): Form | undefined {
  const contract = useContract();
  const current = useRef<{ mode: Mode; wasShared: boolean; form: Form } | undefined>(undefined);
  const previous = current.current?.mode === mode ? current.current : undefined;
  if (previous && isShared(previous.form) === previous.wasShared) return previous.form;
  const target = previous?.form.text('input.target_model') ?? targets?.[0]?.id;
  if (target === undefined) return undefined;
  const values = previous?.form.get('input') as JsonObject | undefined;
  const form = createVoiceForm(contract, mode, target, values);
  current.current = { mode, wasShared: isShared(form), form };
  return form;
}
