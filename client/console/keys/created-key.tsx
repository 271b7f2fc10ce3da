import { TriangleAlert } from 'lucide';
import type { Token } from '../../index.ts';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';

/** The secret of a new key. The gateway never shows it again. */
export function CreatedKey({ token, onClose }: { token: Token; onClose: () => void }) {
  return (
    <Dialog title={`Key ${token.name} created`} persistent onClose={onClose}>
      <p class="notice notice-warning">
        <Icon node={TriangleAlert} />
        Store the secret now. The gateway keeps only its hash and cannot show it again.
      </p>
      <div class="secret">
        <code>{token.key}</code>
        <CopyButton text={token.key} label="Copy the secret" />
      </div>
      <div class="row">
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
