import { useMemo } from 'preact/hooks';
import type { NewWalletGrant, User } from '../../index.ts';
import { newId } from '../../sockets/new-id.ts';
import { GrantDialog } from '../calls/grant-dialog.tsx';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Quota } from '../parts/quota.tsx';
import { useClient } from '../session/session.ts';

interface GrantToWalletProps {
  user: User;
  onClose: () => void;
  onGranted: () => void;
}

/** The form that grants quota to the wallet of a user, or withdraws it. The first grant opens the wallet. */
export function GrantToWallet({ user, onClose, onGranted }: GrantToWalletProps) {
  const client = useClient();
  const contract = useContract();
  // A second click on the button repeats this grant, and never adds a second one.
  const reference = useMemo(newId, []);
  const form = useMemo(
    () => new Form(contract, contract.body('grantToWallet'), { amount: 100_000, reference }),
    [],
  );
  const call = async (signal: AbortSignal) => {
    // The form has the schema of this body.
    await client.admin.users.wallets.grant(user.id, form.body.value as NewWalletGrant, { signal });
    onGranted();
  };
  return (
    <GrantDialog name={user.name} form={form} call={call} onClose={onClose}>
      <Field
        form={form}
        path="reference"
        label="Reference"
        hint="Id of the payment. It is granted once."
        rows={1}
      />
      <p class="secondary numeric">
        {user.has_wallet ? (
          <>
            <Quota amount={user.remain_quota} hasNoUnit /> left in the wallet
          </>
        ) : (
          <>
            The first grant opens a wallet, which takes over the <Quota amount={user.remain_quota} /> of the
            keys. This cannot be undone.
          </>
        )}
      </p>
    </GrantDialog>
  );
}
