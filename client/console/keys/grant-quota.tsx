import { useMemo } from 'preact/hooks';
import type { NewGrant, Token } from '../../index.ts';
import { newId } from '../../sockets/new-id.ts';
import { GrantDialog } from '../calls/grant-dialog.tsx';
import { useContract } from '../contract/contract.ts';
import { Form } from '../contract/form.ts';
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
    <GrantDialog name={token.name} form={form} call={call} onClose={onClose}>
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
    </GrantDialog>
  );
}
