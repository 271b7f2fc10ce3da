import { useMemo } from 'preact/hooks';
import type { Token } from '../../index.ts';
import { DialogForm } from '../calls/dialog-form.tsx';
import { changeOf } from '../contract/change.ts';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form, type JsonObject } from '../contract/form.ts';
import { Dialog } from '../parts/dialog.tsx';
import { useClient } from '../session/session.ts';
import { ExpiryField } from './expiry-field.tsx';
import { ModelsField } from './models-field.tsx';

interface EditKeyProps {
  token: Token;
  models: readonly string[];
  onClose: () => void;
  onSaved: () => void;
}

/** The form that changes a key of any user. Sends only the fields that differ. */
export function EditKey({ token, models, onClose, onSaved }: EditKeyProps) {
  const client = useClient();
  const initial = useMemo(() => fieldsOf(token), [token]);
  const contract = useContract();
  const form = useMemo(() => new Form(contract, contract.body('updateToken'), initial), [initial]);
  const change = changeOf(initial, form.body.value);
  const call = async (signal: AbortSignal) => {
    await client.admin.tokens.update(token.id, change, { signal });
    onSaved();
  };
  return (
    <Dialog title={`Limits of ${token.name}`} onClose={onClose}>
      <DialogForm
        form={form}
        label="Save"
        disabled={Object.keys(change).length === 0}
        call={call}
        onClose={onClose}
      >
        <Field form={form} path="name" label="Name" hint="Shown in the request log." />
        <Field
          form={form}
          path="unlimited_quota"
          label="Unlimited quota"
          hint="The key spends without a limit."
        />
        <ExpiryField form={form} emptyLabel="Unchanged" />
        <ModelsField form={form} models={models} />
        <Field
          form={form}
          path="allow_ips"
          label="Addresses"
          rows={2}
          hint="One address or range per line."
        />
        <Field
          form={form}
          path="requests_per_minute"
          label="Requests per minute"
          hint="0 sets no limit. Empty applies the limit of the creating key or of the configuration."
        />
        <Field form={form} path="sockets" label="Open sockets" hint="As for requests." />
        <Field form={form} path="group" label="Group" hint="Empty applies the group of the user." />
        <Field
          form={form}
          path="create_keys"
          label="May create keys"
          hint="Applies to keys created with it, too."
        />
        <Field form={form} path="admin" label="Admin" hint="Allows all operations of the operator." />
      </DialogForm>
    </Dialog>
  );
}

/** Returns the values of a key by the names of the request. */
function fieldsOf(token: Token): JsonObject {
  const ownGroup = 'own_group' in token ? token.own_group : token.group;
  const fields: JsonObject = {
    name: token.name,
    unlimited_quota: token.unlimited_quota,
    expired_time: token.expired_time,
    model_limits: token.model_limits_enabled ? token.model_limits : '',
    allow_ips: token.allow_ips,
    group: ownGroup,
    admin: token.admin,
    create_keys: token.create_keys,
    requests_per_minute: token.requests_per_minute,
    sockets: token.sockets,
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== '' && value !== null && value !== undefined),
  );
}
