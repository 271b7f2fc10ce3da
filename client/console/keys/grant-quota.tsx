import { useMemo } from 'preact/hooks';
import type { NewGrant, Token } from '../../index.ts';
import { newId } from '../../sockets/new-id.ts';
import { DialogForm } from '../calls/dialog-form.tsx';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Quota } from '../parts/quota.tsx';
import { useClient } from '../session/session.ts';

interface GrantQuotaProps {
  token: Token;
  onClose: () => void;
  onGranted: () => void;
}

/** The form that grants quota to a key, or withdraws it. */
export function GrantQuota({ token, onClose, onGranted }: GrantQuotaProps) {
  const client = useClient();
  const contract = useContract();
  const form = useMemo(() => new Form(contract, contract.body('grantQuota'), { amount: 100_000 }), []);
  // A second click on the button repeats this grant, and never adds a second one.
  const idempotencyKey = useMemo(newId, []);
  const amount = form.get('amount');
  const call = async (signal: AbortSignal) => {
    // The form has the schema of this body.
    await client.admin.tokens.grant(token.id, form.body.value as NewGrant, { idempotencyKey, signal });
    onGranted();
  };
  return (
    <Dialog title={`Grant quota to ${token.name}`} onClose={onClose}>
      <DialogForm form={form} label="Grant" call={call} onClose={onClose}>
        <Field
          form={form}
          path="amount"
          label="Amount"
          hint="In quota units. A negative amount withdraws quota."
        />
        <Field form={form} path="reason" label="Reason" hint="Recorded in the ledger." rows={1} />
        <p class="secondary numeric">
          <Quota amount={token.remain_quota} hasNoUnit /> left
          {typeof amount === 'number' && !Number.isNaN(amount) && (token.debt ?? 0) === 0 && (
            <>
              {amount < 0 ? ' − ' : ' + '}
              <Quota amount={Math.abs(amount)} hasNoUnit /> ={' '}
              <Quota amount={token.remain_quota + amount} hasNoUnit />
            </>
          )}
        </p>
      </DialogForm>
    </Dialog>
  );
}
