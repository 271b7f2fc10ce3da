import type { Token } from '../../index.ts';
import { SecretDialog } from '../parts/secret-dialog.tsx';

/** The secret of a new key. */
export function CreatedKey({ token, onClose }: { token: Token; onClose: () => void }) {
  return (
    <SecretDialog
      title={`Key ${token.name} created`}
      secret={token.key}
      warning="Store the secret now. The gateway keeps only its hash and cannot show it again."
      onClose={onClose}
    />
  );
}
