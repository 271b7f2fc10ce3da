import type { EndpointWithSecret } from '../../index.ts';
import { SecretDialog } from '../parts/secret-dialog.tsx';
import { gatewayUrl } from '../session/session.ts';

interface EndpointSecretProps {
  title: string;
  endpoint: EndpointWithSecret;
  onClose: () => void;
}

/** The new secret of an endpoint, which signs the deliveries. */
export function EndpointSecret({ title, endpoint, onClose }: EndpointSecretProps) {
  return (
    <SecretDialog
      title={title}
      secret={endpoint.secret}
      warning="Store the secret now. The gateway does not show it again."
      onClose={onClose}
    >
      <p class="secondary">
        Your server verifies each delivery with it, see{' '}
        <a href={`${gatewayUrl}/docs/webhooks#verify-signatures`}>Verify signatures</a>.
      </p>
    </SecretDialog>
  );
}
