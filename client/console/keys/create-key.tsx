import { useMemo } from 'preact/hooks';
import type { Member, MeReply, Token, TokenRequest } from '../../index.ts';
import { CallPanel } from '../calls/call-panel.tsx';
import { DialogForm } from '../calls/dialog-form.tsx';
import { clientSample, samplesOf, shownJson } from '../calls/samples.ts';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Dialog } from '../parts/dialog.tsx';
import { isAdmin, useClient } from '../session/session.ts';
import { ExpiryField } from './expiry-field.tsx';
import { ModelsField } from './models-field.tsx';

interface CreateKeyProps {
  me: MeReply;
  /** The member who receives the key. */
  member?: Member;
  onClose: () => void;
  onCreated: (token: Token) => void;
}

/** The form that creates a key with at most the rights of the signed-in key. */
export function CreateKey({ me, member, onClose, onCreated }: CreateKeyProps) {
  const client = useClient();
  const contract = useContract();
  // Only an operator gives quota to keys that the session of a user without a wallet creates.
  const hasNoQuota = me.key.session === true && !me.key.unlimited_quota;
  const form = useMemo(() => {
    const initial = { remain_quota: hasNoQuota ? 0 : 100_000, ...(member && { member_id: member.id }) };
    return new Form(contract, contract.body('createToken'), initial);
  }, []);
  const body = form.body.value;
  const call = async (signal: AbortSignal) => {
    // The form has the schema of this body.
    onCreated(await client.tokens.create(body as TokenRequest, { signal }));
  };
  return (
    <Dialog
      title={member === undefined ? 'Create a key' : `Create a key for ${member.name}`}
      onClose={onClose}
    >
      <DialogForm form={form} label="Create key" call={call} onClose={onClose}>
        <Field
          form={form}
          path="name"
          label="Name"
          hint="Shown in the request log."
          placeholder="front end"
        />
        {me.key.unlimited_quota && (
          <Field
            form={form}
            path="unlimited_quota"
            label="Unlimited quota"
            hint="The key spends without its own limit."
          />
        )}
        {body.unlimited_quota !== true && (
          <Field
            form={form}
            path="remain_quota"
            label="Quota"
            hint={
              me.key.unlimited_quota
                ? 'Quota that the key may spend.'
                : hasNoQuota
                  ? 'Must be 0. The operator grants quota to the key.'
                  : 'Taken from your key, and returned when the new key is revoked.'
            }
          />
        )}
        <ExpiryField form={form} emptyLabel="Same as your key" />
        <details>
          <summary>More options</summary>
          <div class="fields">
            <ModelsField form={form} models={me.models} />
            <Field
              form={form}
              path="allow_ips"
              label="Addresses"
              rows={2}
              hint="IP addresses and ranges from which the key may be used, one per line. Empty allows all."
            />
            <Field
              form={form}
              path="requests_per_minute"
              label="Requests per minute"
              hint="0 sets no separate limit."
            />
            <Field form={form} path="sockets" label="Open sockets" hint="0 sets no separate limit." />
            <Field
              form={form}
              path="group"
              label="Group"
              placeholder={me.group.name}
              hint="Sets the prices of the key."
            />
            <Field
              form={form}
              path="create_keys"
              label="May create keys"
              hint="Such keys share the limits of this key."
            />
            {isAdmin.value && member === undefined && (
              <Field form={form} path="admin" label="Admin" hint="Allows all operations of the operator." />
            )}
          </div>
        </details>
        <details>
          <summary>Code</summary>
          <CallPanel samples={samplesOf('createToken', body, { extra: { TypeScript: typescript(body) } })} />
        </details>
      </DialogForm>
    </Dialog>
  );
}

const typescript = (body: object) =>
  clientSample(`const { id, key } = await client.tokens.create(${shownJson(body)});`);
