-- What the provider called the request that it refused, where it said so: people look a failed request up by it as well.
ALTER TABLE failed_requests ADD COLUMN provider_request_id text CHECK (char_length(provider_request_id) <= 128);
CREATE INDEX failed_requests_provider_index ON failed_requests (provider_request_id) WHERE provider_request_id IS NOT NULL;
