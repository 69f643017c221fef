import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.errors.OpenAIException;
import com.openai.errors.OpenAIServiceException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionFunctionTool;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionMessageToolCall;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** `openai-java` as a client of chat-completions. */
final class OpenaiChat implements Library {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<Access, OpenAIClient> CLIENTS = new ConcurrentHashMap<>();

  static OpenAIClient client(Access access) {
    return CLIENTS.computeIfAbsent(
        access,
        (made) -> OpenAIOkHttpClient.builder().apiKey(made.key()).baseUrl(made.baseUrl() + "/v1").maxRetries(0).build());
  }

  /** The arguments of a call, which these libraries leave as text. */
  static Object parsed(String text) {
    try {
      return JSON.readTree(text);
    } catch (java.io.IOException error) {
      throw new IllegalStateException("arguments that are no JSON: " + text, error);
    }
  }

  static Thrown thrownBy(Runnable ask) {
    try {
      ask.run();
    } catch (RuntimeException error) {
      Integer status = error instanceof OpenAIServiceException service ? service.statusCode() : null;
      return new Thrown(error instanceof OpenAIException, status, error.getClass().getSimpleName(), error.getMessage());
    }
    throw new IllegalStateException("nothing was thrown");
  }

  @Override
  public Talked talk(Access access, String model, String prompt, boolean isStream, boolean withTools) {
    ChatCompletionCreateParams.Builder request = ChatCompletionCreateParams.builder().model(model).addUserMessage(prompt);
    if (withTools) request.addTool(ChatCompletionFunctionTool.builder().function(weather()).build());
    List<Call> calls = new ArrayList<>();
    for (int round = 0; round < MAX_ROUNDS; round++) {
      ChatCompletionMessage message = answer(access, request.build(), isStream);
      List<ChatCompletionMessageToolCall> asked = message.toolCalls().orElse(List.of());
      if (asked.isEmpty()) return new Talked(message.content().orElse(""), calls);
      request.addMessage(message);
      calls.addAll(callsIn(message));
      for (ChatCompletionMessageToolCall call : asked) {
        String id = call.asFunction().id();
        request.addMessage(ChatCompletionToolMessageParam.builder().toolCallId(id).content(TOOL_RESULT).build());
      }
    }
    throw new IllegalStateException("the conversation does not end");
  }

  @Override
  public Talked ask(Access access, String model, String prompt) {
    ChatCompletionMessage message =
        answer(access, ChatCompletionCreateParams.builder().model(model).addUserMessage(prompt).build(), true);
    return new Talked(message.content().orElse(""), callsIn(message));
  }

  private static List<Call> callsIn(ChatCompletionMessage message) {
    return message.toolCalls().orElse(List.of()).stream()
        .map((call) -> call.asFunction().function())
        .map((function) -> new Call(function.name(), parsed(function.arguments())))
        .toList();
  }

  private static ChatCompletionMessage answer(Access access, ChatCompletionCreateParams request, boolean isStream) {
    if (!isStream) return client(access).chat().completions().create(request).choices().get(0).message();
    ChatCompletionAccumulator accumulator = ChatCompletionAccumulator.create();
    try (StreamResponse<ChatCompletionChunk> stream = client(access).chat().completions().createStreaming(request)) {
      stream.stream().forEach(accumulator::accumulate);
    }
    return accumulator.chatCompletion().choices().get(0).message();
  }

  private static FunctionDefinition weather() {
    FunctionParameters parameters =
        FunctionParameters.builder()
            .putAdditionalProperty("type", JsonValue.from("object"))
            .putAdditionalProperty("properties", JsonValue.from(Map.of("city", Map.of("type", "string"))))
            .putAdditionalProperty("required", JsonValue.from(List.of("city")))
            .build();
    return FunctionDefinition.builder().name(TOOL_NAME).description(TOOL_DESCRIPTION).parameters(parameters).build();
  }

  @Override
  public Thrown fail(Access access, String model, boolean isStream) {
    ChatCompletionCreateParams request = ChatCompletionCreateParams.builder().model(model).addUserMessage("Hi").build();
    return thrownBy(() -> answer(access, request, isStream));
  }

  @Override
  public List<String> listModels(Access access) {
    return client(access).models().list().autoPager().stream().map((model) -> model.id()).toList();
  }

  @Override
  public String getModel(Access access, String model) {
    return client(access).models().retrieve(model).id();
  }
}
