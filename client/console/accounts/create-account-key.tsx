import { useMemo } from 'preact/hooks';
import type { Account, NewAccountToken, Token } from '../../index.ts';
import { DialogForm } from '../calls/dialog-form.tsx';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { ExpiryField } from '../keys/expiry-field.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { useClient } from '../session/session.ts';

interface CreateAccountKeyProps {
  account: Account;
  onClose: () => void;
  onCreated: (token: Token) => void;
}

/** The form that creates a key of a sub-account. */
export function CreateAccountKey({ account, onClose, onCreated }: CreateAccountKeyProps) {
  const client = useClient();
  const contract = useContract();
  const form = useMemo(
    () => new Form(contract, contract.body('createMyAccountToken'), { unlimited_quota: true }),
    [],
  );
  const body = form.body.value;
  const call = async (signal: AbortSignal) => {
    // The form has the schema of this body.
    onCreated(await client.me.accounts.createToken(account.id, body as NewAccountToken, { signal }));
  };
  return (
    <Dialog title={`Create a key for ${account.name}`} onClose={onClose}>
      <DialogForm form={form} label="Create key" call={call} onClose={onClose}>
        <Field
          form={form}
          path="name"
          label="Name"
          hint="Shown in the request log."
          placeholder="front end"
        />
        <Field
          form={form}
          path="unlimited_quota"
          label="No limit of its own"
          hint="Only your wallet limits the key."
        />
        {body.unlimited_quota !== true && (
          <Field
            form={form}
            path="remain_quota"
            label="Quota"
            hint="Part of your wallet that the key may spend."
          />
        )}
        <ExpiryField form={form} emptyLabel="Same as your key" />
        <details>
          <summary>More options</summary>
          <div class="fields">
            <Field
              form={form}
              path="allow_ips"
              label="Addresses"
              rows={2}
              hint="IP addresses and ranges from which the key may be used, one per line. Empty: those of your key."
            />
            <Field
              form={form}
              path="requests_per_minute"
              label="Requests per minute"
              hint="0 sets no separate limit."
            />
            <Field
              form={form}
              path="create_keys"
              label="May create keys"
              hint="The account creates further keys itself."
            />
          </div>
        </details>
      </DialogForm>
    </Dialog>
  );
}
