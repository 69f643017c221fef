import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.errors.AnthropicException;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.ContentBlock;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCountTokensParams;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.anthropic.models.messages.ToolUseBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** `anthropic-java` as a client of messages. */
final class AnthropicMessages implements Library {
  private static final int MAX_TOKENS = 8_192;
  private static final Map<Access, AnthropicClient> CLIENTS = new ConcurrentHashMap<>();

  private static AnthropicClient client(Access access) {
    return CLIENTS.computeIfAbsent(
        access,
        (made) -> AnthropicOkHttpClient.builder().apiKey(made.key()).baseUrl(made.baseUrl()).maxRetries(0).build());
  }

  @Override
  public Talked talk(Access access, String model, String prompt, boolean isStream, boolean withTools) {
    MessageCreateParams.Builder request =
        MessageCreateParams.builder().model(model).maxTokens(MAX_TOKENS).addUserMessage(prompt);
    if (withTools) request.addTool(weather());
    List<Call> calls = new ArrayList<>();
    for (int round = 0; round < MAX_ROUNDS; round++) {
      Message message = answer(access, request.build(), isStream);
      List<ToolUseBlock> asked = callsOf(message);
      if (asked.isEmpty()) return new Talked(textOf(message), calls);
      calls.addAll(callsIn(message));
      request.addMessage(message);
      request.addUserMessageOfContentBlockParams(
          asked.stream()
              .map((call) -> ToolResultBlockParam.builder().toolUseId(call.id()).content(TOOL_RESULT).build())
              .map(ContentBlockParam::ofToolResult)
              .toList());
    }
    throw new IllegalStateException("the conversation does not end");
  }

  @Override
  public Talked ask(Access access, String model, String prompt) {
    Message message =
        answer(
            access,
            MessageCreateParams.builder().model(model).maxTokens(MAX_TOKENS).addUserMessage(prompt).build(),
            true);
    return new Talked(textOf(message), callsIn(message));
  }

  private static Message answer(Access access, MessageCreateParams request, boolean isStream) {
    if (!isStream) return client(access).messages().create(request);
    MessageAccumulator accumulator = MessageAccumulator.create();
    try (StreamResponse<RawMessageStreamEvent> stream = client(access).messages().createStreaming(request)) {
      stream.stream().forEach(accumulator::accumulate);
    }
    return accumulator.message();
  }

  private static List<ToolUseBlock> callsOf(Message message) {
    return message.content().stream().filter(ContentBlock::isToolUse).map(ContentBlock::asToolUse).toList();
  }

  private static List<Call> callsIn(Message message) {
    return callsOf(message).stream()
        .map((call) -> new Call(call.name(), call._input().convert(Object.class)))
        .toList();
  }

  private static String textOf(Message message) {
    StringBuilder text = new StringBuilder();
    message.content().stream().flatMap((block) -> block.text().stream()).forEach((block) -> text.append(block.text()));
    return text.toString();
  }

  private static Tool weather() {
    Tool.InputSchema schema =
        Tool.InputSchema.builder()
            .properties(
                Tool.InputSchema.Properties.builder()
                    .putAdditionalProperty("city", JsonValue.from(Map.of("type", "string")))
                    .build())
            .addRequired("city")
            .build();
    return Tool.builder().name(TOOL_NAME).description(TOOL_DESCRIPTION).inputSchema(schema).build();
  }

  @Override
  public Thrown fail(Access access, String model, boolean isStream) {
    MessageCreateParams request =
        MessageCreateParams.builder().model(model).maxTokens(MAX_TOKENS).addUserMessage("Hi").build();
    try {
      answer(access, request, isStream);
    } catch (RuntimeException error) {
      Integer status = error instanceof AnthropicServiceException service ? service.statusCode() : null;
      boolean isOwn = error instanceof AnthropicException;
      return new Thrown(isOwn, status, error.getClass().getSimpleName(), error.getMessage());
    }
    throw new IllegalStateException("nothing was thrown");
  }

  @Override
  public List<String> listModels(Access access) {
    return client(access).models().list().autoPager().stream().map((model) -> model.id()).toList();
  }

  @Override
  public String getModel(Access access, String model) {
    return client(access).models().retrieve(model).id();
  }

  @Override
  public long countTokens(Access access, String model) {
    MessageCountTokensParams request = MessageCountTokensParams.builder().model(model).addUserMessage("Hi").build();
    return client(access).messages().countTokens(request).inputTokens();
  }
}
