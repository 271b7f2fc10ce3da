import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { EndpointWithSecret } from '../../index.ts';
import { useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { endpointsOf, type Scope } from './endpoint-calls.ts';

const hourSeconds = 3_600;
/** Times in which both secrets sign, in seconds. */
const overlaps = [
  { seconds: 0, label: 'At once' },
  { seconds: hourSeconds, label: 'In 1 hour' },
  { seconds: 24 * hourSeconds, label: 'In 1 day' },
  { seconds: 7 * 24 * hourSeconds, label: 'In 7 days' },
];
const defaultOverlap = 24 * hourSeconds;

interface RotateSecretProps {
  scope: Scope;
  id: number;
  onClose: () => void;
  onRotated: (endpoint: EndpointWithSecret) => void;
}

/** Replaces the secret of an endpoint. The old one remains valid for a time that the user selects. */
export function RotateSecret({ scope, id, onClose, onRotated }: RotateSecretProps) {
  const client = useClient();
  const fieldId = useId();
  const overlap = useSignal(defaultOverlap);
  const run = useRun<void>();
  const state = run.state.value;
  const rotate = async (signal: AbortSignal) => {
    const query = { overlap_seconds: overlap.value };
    onRotated(await endpointsOf(client, scope).rotateSecret(id, query, { signal }));
  };
  return (
    <Dialog title="Rotate the secret" onClose={onClose}>
      <p>
        The gateway creates a new secret. Until the old one expires, each delivery is signed with both, so
        your server can change the secret without a gap.
      </p>
      <div class="field">
        <label class="field-label" for={fieldId}>
          The old secret expires
        </label>
        <select
          id={fieldId}
          class="input"
          value={overlap.value}
          onChange={(event) => (overlap.value = Number(event.currentTarget.value))}
        >
          {overlaps.map(({ seconds, label }) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </select>
        <p class="field-hint">Select “At once” if the secret has leaked.</p>
      </div>
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      <div class="row">
        <Button variant="primary" busy={state.status === 'running'} onClick={() => void run.start(rotate)}>
          Rotate secret
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
