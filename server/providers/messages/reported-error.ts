import { type Failure, ProviderFailure } from '../../lib/failure.ts';
import { field, textField } from '../json.ts';
import type { ProviderWords } from '../provider-words.ts';
import { providerFailure, throttled } from '../rejection.ts';

/** What an error in a stream means for the client, by the class that the provider gives it. */
export function reportedError(data: unknown, words: ProviderWords): Failure {
  const error = field(data, 'error');
  switch (textField(error, 'type')) {
    case 'overloaded_error':
      return providerFailure(503);
    case 'timeout_error':
      return providerFailure(504);
    case 'rate_limit_error':
      return throttled();
    case 'invalid_request_error':
    case 'request_too_large':
    case 'not_found_error':
      return new ProviderFailure(
        400,
        'bad_request',
        words.text(textField(error, 'message') ?? 'The provider refused the request.'),
      );
    default:
      // What is about our account, too.
      return providerFailure(502);
  }
}
