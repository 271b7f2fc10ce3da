import { useMemo } from 'preact/hooks';
import type { Endpoint, EndpointRequest, EndpointWithSecret } from '../../index.ts';
import { DialogForm } from '../calls/dialog-form.tsx';
import { changeOf } from '../contract/change.ts';
import { ChoicesField } from '../contract/choices-field.tsx';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form, type JsonObject } from '../contract/form.ts';
import { Dialog } from '../parts/dialog.tsx';
import { useClient } from '../session/session.ts';
import { endpointsOf, type Scope } from './endpoint-calls.ts';

interface EndpointDialogProps {
  scope: Scope;
  /** The endpoint to change. Undefined: a new one. */
  endpoint?: Endpoint;
  onClose: () => void;
  onCreated?: (endpoint: EndpointWithSecret) => void;
  onSaved?: () => void;
}

/** The form that creates or changes an endpoint. A change contains only the fields that differ. */
export function EndpointDialog({ scope, endpoint, onClose, onCreated, onSaved }: EndpointDialogProps) {
  const client = useClient();
  const contract = useContract();
  const initial = useMemo(() => fieldsOf(endpoint), []);
  const form = useMemo(
    () =>
      new Form(
        contract,
        contract.body(scope === 'operator' ? 'createOperatorEndpoint' : 'createEndpoint'),
        initial,
      ),
    [],
  );
  const events = form.get('events');
  const hasThreshold = Array.isArray(events) && events.includes('quota.low');
  const { quota_threshold: threshold, ...others } = form.body.value;
  const body: JsonObject = hasThreshold ? { ...others, quota_threshold: threshold } : others;
  const change = changeOf(initial, body);
  const save = async (signal: AbortSignal) => {
    const calls = endpointsOf(client, scope);
    if (endpoint === undefined) {
      // The form has the schema of this body.
      onCreated?.(await calls.create(body as EndpointRequest, { signal }));
    } else {
      await calls.update(endpoint.id, change, { signal });
      onSaved?.();
    }
  };
  return (
    <Dialog title={endpoint === undefined ? 'Add an endpoint' : 'Change the endpoint'} onClose={onClose}>
      <DialogForm
        form={form}
        label={endpoint === undefined ? 'Add endpoint' : 'Save'}
        disabled={endpoint !== undefined && Object.keys(change).length === 0}
        call={save}
        onClose={onClose}
      >
        <Field form={form} path="url" label="URL" hint="The gateway sends each event to it by POST." />
        <Field
          form={form}
          path="description"
          label="Description"
          rows={1}
          hint=""
          placeholder="Billing alerts"
        />
        <ChoicesField form={form} path="events" label="Events" />
        {hasThreshold && (
          <Field
            form={form}
            path="quota_threshold"
            label="Threshold of quota.low"
            hint="Balance at or below which the event is sent, in quota units."
          />
        )}
      </DialogForm>
    </Dialog>
  );
}

/** Returns the values of an endpoint by the names of the request. */
function fieldsOf(endpoint: Endpoint | undefined): JsonObject {
  if (endpoint === undefined) return {};
  const { url, description, events, quota_threshold: threshold } = endpoint;
  return {
    url,
    events,
    ...(description !== '' && { description }),
    ...(threshold !== null && { quota_threshold: threshold }),
  };
}
